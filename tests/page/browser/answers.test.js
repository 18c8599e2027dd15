// The whole element of an answer: the order of its parts, its end, citations, and layout that stays in place.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp } from "../support/fixture.js";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** The visible parts of an answer, in order, as one text each. */
const partsOf = (page) =>
  lastAnswer(page).evaluate((answer) =>
    [...answer.querySelectorAll(".thinking, .prose, .steps, .status, .sources, .note, .answer-footer")]
      .filter((part) => part.checkVisibility() && part.textContent.trim() !== "")
      .map((part) => {
        const shown = part.matches("details") ? part.querySelector("summary") : part;
        return `${part.className.split(" ")[0]}: ${shown.innerText.replaceAll(/[\s\u2060]+/g, " ").trim()}`;
      }),
  );

/** Records the layout shifts of a page. */
const recordShifts = (page) =>
  page.addInitScript(() => {
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });

/** A turn with a search between two texts. */
async function searchedAnswer({ page, model, search }, { question = "How do heat pumps work?", before = "Let me look that up.\n", results = 10, query = "heat pumps efficiency" } = {}) {
  await sendMessage(page, question);
  const first = await model.next();
  first.sendReasoning("They want to know.");
  first.sendText(before);
  await prose(page).getByText(before.trim().slice(-10)).last().waitFor();
  first.callSearch(query);
  const request = await search.next();
  await lastAnswer(page).locator(".step.running").waitFor();
  request.respond(results);
  const second = await model.next();
  for (const delta of ["Heat pumps ", "**move** heat [1]", ", they do not make it [2].\n\n", "- warm\n", "- cold\n", "\nDone."]) {
    second.sendText(delta);
  }
  second.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
}

test("reasoning that only its end tag shows is taken out of the answer", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Roses?");
  const reply = await model.next();
  reply.sendText("They want a 🌹 poem.\n");
  await prose(page).getByText("They want a 🌹 poem.").waitFor();
  reply.sendText("</think>\n\nRoses are red.");
  await prose(page).getByText("Roses are red.").waitFor();
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  const expected = [/^thinking: Thought for /, /^prose: Roses are red\.$/];
  const parts = await partsOf(page);
  expected.forEach((pattern, at) => assert.match(parts[at], pattern));
  assert.match(await lastAnswer(page).locator(".reasoning").textContent(), /^They want a 🌹 poem\.\s*$/);
  await page.reload();
  await prose(page).getByText("Roses are red.").waitFor();
  assert.doesNotMatch(await prose(page).textContent(), /poem/);
});

test("an answer is shown in the order in which it happened", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture);
  const parts = await partsOf(page);
  const expected = [
    /^thinking: Thought for /,
    /^prose: Let me look that up\.$/,
    /^steps: Searched heat pumps efficiency 10 results$/,
    /^prose: Heat pumps move heat ?1, they do not make it ?2\. warm cold Done\.$/,
    /^answer-footer: 10 sources$/,
  ];
  assert.equal(parts.length, expected.length, JSON.stringify(parts));
  parts.forEach((part, n) => assert.match(part, expected[n]));
});

/** The HTML of an answer without ids and measured times. */
const htmlOf = (page) =>
  lastAnswer(page).evaluate((answer) =>
    answer.outerHTML
      .replaceAll(/md\d+-/g, "")
      .replaceAll(/(?:< )?\d+(?:\.\d)?s\b/g, "TIME")
      .replaceAll(/></g, ">\n<"),
  );

test("a reload shows the same answer", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tea or coffee? 🍵");
  const first = await model.next();
  first.sendReasoning("They 🍵 ask for two things.");
  first.sendText("Let me look 🍵 that up.\n");
  await prose(page).getByText("that up.").waitFor();
  first.sendText(["tea", "coffee"].map((query) => `<tool_call>${JSON.stringify({ tool: "search_web", query })}</tool_call>`).join(""));
  first.end();
  (await search.next()).respond(3);
  (await search.next()).fail(400);
  const second = await model.next();
  second.sendReasoning("One search failed.");
  second.callSearch("coffee again");
  (await search.next()).respond(2, [{ url: "https://coffee.example/a" }, { url: "https://coffee.example/b" }]);
  const third = await model.next();
  third.sendReasoning("Now I know.");
  third.sendText("**Tea** [1], not `coffee` [4].\n\n1. a\n2. b");
  third.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy", exact: true }).waitFor();
  const kinds = (await partsOf(page)).map((part) => part.split(":")[0]);
  assert.deepEqual(kinds, ["thinking", "prose", "steps", "prose", "answer-footer"], "the rounds before the answer are one row");
  const openSteps = async () => {
    const rounds = lastAnswer(page).locator(".rounds");
    assert.match((await rounds.locator("> summary").textContent()).trim(), /^Searched (tea · coffee|coffee · tea) · coffee again5 results · 1 failed3 steps$/);
    for (const line of await lastAnswer(page).locator(".step").all()) await line.click();
    await lastAnswer(page).locator(".step-list").last().locator("a").first().waitFor();
    assert.deepEqual(await rounds.evaluate(({ children }) => [...children].slice(1).map(({ classList }) => classList[0])), ["steps", "thinking", "steps", "thinking"]);
    await lastAnswer(page).getByRole("button", { name: "More" }).click();
    await lastAnswer(page).locator(".call-details").waitFor();
  };
  await openSteps();
  const live = await htmlOf(page);
  assert.equal(await lastAnswer(page).locator(".step-list a").count(), 5);
  await page.reload();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await openSteps();
  assert.equal(await htmlOf(page), live);
  assert.match(await lastAnswer(page).locator(".step-list").last().locator(".step-outcome").textContent(), /^2 results · .*\d/);
});

test("an answer of an earlier release is shown as before", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.route("**/api/conversations/*?*", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const answer = body.messages[1];
    for (const field of ["usage", "thinkingMs"]) delete answer[field];
    for (const call of answer.toolCalls) for (const field of ["position", "durationMs"]) delete call[field];
    return route.fulfill({ response, json: body });
  });
  await page.goto(url);
  await searchedAnswer(fixture);
  await page.reload();
  await lastAnswer(page).locator(".sources-toggle").waitFor();
  const expected = [/^thinking: Thoughts$/, /^steps: Searched heat pumps efficiency 10 results$/, /^prose: Let me look that up\..*Done\.$/, /^answer-footer: 10 sources/];
  const parts = await partsOf(page);
  assert.equal(parts.length, expected.length, parts.join("\n"));
  expected.forEach((pattern, at) => assert.match(parts[at], pattern));
});

test("a line of steps opens to what was searched", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture, { results: 3 });
  const line = lastAnswer(page).locator(".step");
  const { height } = await line.boundingBox();
  await line.click();
  const list = lastAnswer(page).getByRole("list", { name: "Steps" });
  await list.getByText(/^3 results · (< )?\d\.\ds$/).waitFor();
  assert.equal(await list.getByRole("link").count(), 3);
  assert.equal((await line.boundingBox()).height, height);
});

test("a stopped answer no longer reports that it stops", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once upon a time");
  await prose(page).getByText("Once upon a time").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  const parts = await partsOf(page);
  assert.deepEqual(parts.slice(0, 2), ["prose: Once upon a time", "note: This answer was stopped. Continue"]);
  assert.equal(parts.length, 3);
  assert.match(await lastAnswer(page).locator(".usage").textContent(), /^≈ .* openai$/);
});

test("a failed answer shows its reason and no numbers", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Hello?");
  (await model.next()).fail(401);
  await lastAnswer(page).locator(".note.failed").waitFor();
  const parts = await partsOf(page);
  assert.match(parts[0], /^note: The model’s provider rejected the server’s key\. Request \w+$/);
  assert.deepEqual(parts.slice(1), ["answer-footer: "]);
  assert.equal(await lastAnswer(page).locator(".usage").textContent(), "openai");
  const [column, footer] = await Promise.all(
    [lastAnswer(page).locator(".note"), lastAnswer(page).locator(".message-actions .icon").first()].map((one) => one.boundingBox()),
  );
  assert.ok(Math.abs(column.x - footer.x) < 2, "the footer begins at the column");
});

test("while it thinks an answer reports it once", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Hm?");
  const reply = await model.next();
  reply.sendReasoning("Let me see.");
  await lastAnswer(page).getByText("Thinking…").waitFor();
  assert.deepEqual(await partsOf(page), ["thinking: Thinking…"]);
  assert.equal((await lastAnswer(page).innerText()).match(/Thinking/g).length, 1);
  reply.sendText("So.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await lastAnswer(page).getByText(/^Thought for /).waitFor();
});

test("a citation shows title, site and excerpt, also later", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture);
  const card = page.locator(".citation-card");
  await prose(page).getByRole("link", { name: "Source 2" }).hover();
  await card.getByText("Result 2").waitFor();
  await card.getByText("site2.example").waitFor();
  await card.getByText("What page 2 says.").waitFor();
  assert.equal(await card.getByRole("link").getAttribute("href"), "https://site2.example/page");
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
  await prose(page).getByRole("link", { name: "Source 1" }).focus();
  await page.keyboard.press("Tab");
  await card.getByText("Result 2").waitFor();
  await exchange(fixture, "And then?", "It stays warm [1].");
  await page.reload();
  await prose(page).getByRole("link", { name: "Source 1" }).hover();
  await card.getByText("What page 1 says.").waitFor();
});

for (const [name, context] of [["desktop", {}], ["phone", PHONE]]) {
  test(`text stays in place on a ${name}`, async (t) => {
    const fixture = await setUp(t, { context });
    const { page, url } = fixture;
    await recordShifts(page);
    await page.goto(url);
    await messageBox(page).waitFor();
    // The box grows with a longer text, which only what people type excuses.
    await searchedAnswer(fixture, { question: "Heat pumps?" });
    await searchedAnswer(fixture, { question: "And now?", before: "A longer text.\n\n".repeat(12), query: "another" });
    // The observer reports a frame later.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const shift = await page.evaluate(() =>
      PerformanceObserver.supportedEntryTypes.includes("layout-shift") ? window.shift : Infinity,
    );
    console.log(`layout shift on a ${name}: ${shift.toFixed(4)}`);
    assert.ok(shift < 0.02, `${shift}`);
  });
}

test("an interrupted answer keeps the longer text", async (t) => {
  const { page, url, model, server, restart } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("All of this text was on the screen.");
  await prose(page).getByText("on the screen.").waitFor();
  await server().kill();
  const load = lastAnswer(page).getByRole("button", { name: "Load the stored answer" });
  await load.waitFor({ timeout: 40_000 });
  await restart();
  await load.click();
  await lastAnswer(page).getByText(/This answer was interrupted|hasn’t stored this text/).waitFor();
  await prose(page).getByText("All of this text was on the screen.").waitFor();
  await page.locator("#toast").waitFor({ state: "hidden" });
});

test("a conversation that is gone leads to a new one", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(`${url}/#/c/01ABSENT`);
  await page.getByText("This conversation doesn’t exist. It may have been deleted.").waitFor();
  await exchange({ page, model }, "Hello", "Hi.");
  await page.waitForURL(/#\/c\/(?!01ABSENT)/);
  await page.goto(`${url}/#/c/01ABSENT`);
  await page.getByRole("button", { name: "Start a new conversation" }).click();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
});

test("pages of one browser follow each other", async (t) => {
  const fixture = await setUp(t);
  const { page, url, context, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  const other = await context.newPage();
  await other.goto(page.url());
  await prose(other).getByText("One.").waitFor();
  await exchange({ page: other, model }, "Second", "Two.");
  await prose(page).getByText("Two.").waitFor();
});

test("the whole conversation is printed", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Long?", "A paragraph.\n\n".repeat(80));
  await page.emulateMedia({ media: "print" });
  const { scroller, list } = await page.evaluate(() => {
    const height = (id) => document.getElementById(id).getBoundingClientRect().height;
    return { scroller: height("scroller"), list: height("messages") };
  });
  assert.ok(scroller >= list && list > 2000, `${scroller} of ${list}`);
  for (const id of ["sidebar", "composer"]) assert.equal(await page.locator(`#${id}`).isVisible(), false);
  const ground = () => page.locator(".bubble").first().evaluate((bubble) => getComputedStyle(bubble).backgroundColor);
  const onLight = await ground();
  await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
  assert.equal(await ground(), onLight, "paper is light, also with the dark theme");
});
