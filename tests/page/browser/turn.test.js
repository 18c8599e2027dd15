// A turn as a person sees it: the question, the search, the growing answer, and what is left of it afterwards.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ask, askAndAnswer, lastAnswer, prose, reads, stage } from "../support/stage.js";
import { openTool } from "../support/wire.js";

test("a question, its search, its sources and its answer appear as they happen", async (t) => {
  const { page, url, model, search } = await stage(t);
  await page.goto(url);
  await ask(page, "What is the weather in Beijing?");
  await reads(page.locator(".bubble"), "What is the weather in Beijing?");

  const first = await model.next();
  await reads(lastAnswer(page).locator(".status"), "Waiting for the model…");
  first.think("They ask for the weather.");
  await lastAnswer(page).getByText("Thinking…", { exact: true }).first().waitFor();
  first.say("One moment.");
  await reads(prose(page), "One moment.");
  first.search("Beijing weather");

  const looking = await search.next();
  await reads(lastAnswer(page).locator(".step.running"), "SearchingBeijing weather");
  await reads(lastAnswer(page).locator(".status"), "Searching: Beijing weather…");
  assert.equal(looking.body.query, "Beijing weather");
  looking.answer(10, [{ title: "Beijing today", url: "https://weather.example/beijing" }]);
  await lastAnswer(page)
    .locator(".step.ok", { hasText: /10 results · (< )?\d+\.\d s$/ })
    .waitFor();
  const source = lastAnswer(page)
    .locator(".sources")
    .getByRole("link", { name: /Beijing today/ });
  assert.equal(await source.getAttribute("href"), "https://weather.example/beijing");

  const second = await model.next();
  second.say("It is **sun");
  await reads(prose(page).locator("strong"), "sun");
  second.say("ny** [1].");
  await reads(prose(page).locator("strong"), "sunny");
  second.end();
  await lastAnswer(page).locator(".usage").waitFor();
  const citation = prose(page).getByRole("link", { name: "Source 1" });
  assert.equal(await citation.getAttribute("href"), "https://weather.example/beijing");
  assert.equal(await lastAnswer(page).locator(".thinking").getAttribute("open"), null);
});

test("what a tool says while it runs is shown by its last line, and goes when the result is there", async (t) => {
  const host = await openTool();
  t.after(() => host.close());
  const { page, url, model } = await stage(t, { settings: { ALLOW_PRIVATE_TOOLS: "yes" } });
  const define = async (method, path, body) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/admin/${path}`, { method, headers, body: JSON.stringify(body) });
    assert.ok(answer.ok, await answer.text());
  };
  const endpoint = { urlTemplate: `${host.url}/report` };
  await define("POST", "tools", { name: "report", description: "Reports.", type: "streamable", endpoint });
  await define("PUT", "agents/default", { name: "Default", tools: [{ tool: "report" }] });
  await page.goto(url);
  await ask(page, "Report, please.");
  const asking = await model.next();
  asking.say('<tool_call>{"tool":"report"}</tool_call>');
  asking.end();
  const call = await host.next();
  const running = lastAnswer(page).locator(".step.running");
  await reads(running, "Using report");
  call.say("Reading page 1 of 3\nReading page");
  await reads(running.locator(".outcome"), "Reading page");
  call.say(" 2 of 3\n");
  await reads(running.locator(".outcome"), "Reading page 2 of 3");
  call.say("\nReading page 3 of 3");
  await reads(running.locator(".outcome"), "Reading page 3 of 3");
  call.end();
  const done = lastAnswer(page).locator(".step.ok");
  await done.filter({ hasText: /^Used report/ }).waitFor();
  assert.doesNotMatch(await done.textContent(), /Reading page/);
  const reply = await model.next();
  reply.say("All is well.");
  reply.end();
  await reads(prose(page), "All is well.");
});

test("an answer is still there after a reload and after a restart of the server", async (t) => {
  const world = await stage(t);
  const { page, url, restart } = world;
  await page.goto(url);
  await askAndAnswer(world, "Who wrote Faust?", "It was *Goethe*.");
  assert.match(page.url(), /#\/c\/\w+$/);
  for (const again of [
    () => page.reload(),
    async () => {
      await restart();
      await page.reload();
    },
  ]) {
    await again();
    await reads(prose(page), "It was Goethe.");
    await reads(prose(page).locator("em"), "Goethe");
    await reads(page.locator(".bubble"), "Who wrote Faust?");
    await page.getByRole("navigation").getByRole("link", { name: "Who wrote Faust?" }).waitFor();
  }
});

test("steps and sources of a stored answer are shown as they were", async (t) => {
  const { page, url, model, search } = await stage(t);
  await page.goto(url);
  await ask(page, "News?");
  (await model.next()).search("news");
  (await search.next()).answer(6);
  const reply = await model.next();
  reply.say("Nothing new [2].");
  reply.end();
  await lastAnswer(page).locator(".usage").waitFor();
  await page.reload();
  await lastAnswer(page)
    .locator(".step.ok", { hasText: /Searched\s*news.*6 results/ })
    .waitFor();
  assert.equal(await lastAnswer(page).locator(".sources li:visible").count(), 4);
  await lastAnswer(page).getByRole("button", { name: "2 more" }).click();
  assert.equal(await lastAnswer(page).locator(".sources li:visible").count(), 6);
  assert.equal(
    await prose(page).getByRole("link", { name: "Source 2" }).getAttribute("href"),
    "https://site2.example/page",
  );
});

test("a search that fails is said in words, and the answer goes on", async (t) => {
  const { page, url, model, search } = await stage(t);
  await page.goto(url);
  await ask(page, "News?");
  (await model.next()).search("news");
  (await search.next()).refuse(400);
  const reply = await model.next();
  await lastAnswer(page).locator(".step.failed .outcome").filter({ hasText: /\w/ }).waitFor();
  reply.say("I could not search.");
  reply.end();
  await reads(prose(page), "I could not search.");
});

test("f032_ f033_ an answer that was cut short is flagged in words", async (t) => {
  const { page, url, model } = await stage(t);
  await page.goto(url);
  for (const [reason, words] of [
    ["length", /output limit/],
    ["content_filter", /content filter/],
  ]) {
    await ask(page, `End with ${reason}`);
    const reply = await model.next();
    reply.say("As far as");
    reply.end(reason);
    await lastAnswer(page).locator(".note").filter({ hasText: words }).waitFor();
    await reads(prose(page), "As far as");
  }
});

test("f020_ a model that breaks off is an error in words, with the answer so far and a way to try again", async (t) => {
  const { page, url, model } = await stage(t);
  await page.goto(url);
  await ask(page, "Tell me.");
  const broken = await model.next();
  broken.say("Half an ans");
  await reads(prose(page), "Half an ans");
  broken.cut();
  await lastAnswer(page).locator(".note.failed").getByText("The connection to the model was lost.").waitFor();
  await reads(prose(page), "Half an ans");
  await lastAnswer(page).getByRole("button", { name: "Try again" }).click();
  const whole = await model.next();
  whole.say("A whole answer.");
  whole.end();
  await reads(prose(page), "A whole answer.");
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["Tell me."]);
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);

  await page.reload();
  await reads(prose(page), "A whole answer.");
  assert.equal(await page.locator(".turn").count(), 2);
});

test("an answer can be asked for again, and takes the place of the one before", async (t) => {
  const world = await stage(t);
  const { page, url, model } = world;
  await page.goto(url);
  await askAndAnswer(world, "First?", "One.");
  await askAndAnswer(world, "Second?", "Two.");
  const again = page.getByRole("button", { name: "Answer again" });
  assert.equal(await again.count(), 1, "only the newest answer can be");
  await again.click();
  const reply = await model.next();
  assert.doesNotMatch(JSON.stringify(reply.body.messages), /Two\./);
  reply.say("Better.");
  reply.end();
  await reads(prose(page), "Better.");
  await page.reload();
  await reads(prose(page), "Better.");
  assert.deepEqual(await page.locator(".prose").allTextContents(), ["One.", "Better."]);
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["First?", "Second?"]);
});

test("when asking again comes to nothing the answer before stays", async (t) => {
  const world = await stage(t);
  const { page, url, model } = world;
  await page.goto(url);
  await askAndAnswer(world, "Tell me.", "This.");
  await page.getByRole("button", { name: "Answer again" }).click();
  (await model.next()).refuse(401);
  await page.locator("#notice").filter({ hasText: /\w/ }).waitFor();
  await reads(prose(page), "This.");
  await page.getByRole("button", { name: "Answer again" }).click();
  const broken = await model.next();
  broken.say("Half an ans");
  await reads(prose(page), "Half an ans");
  broken.cut();
  await page.locator("#notice").getByText("The connection to the model was lost.").waitFor();
  await reads(prose(page), "This.");
  await page.route("**/regenerate", (route) => route.abort());
  await page.getByRole("button", { name: "Answer again" }).click();
  await page.locator("#notice").getByText("The server cannot be reached.").waitFor();
  await reads(prose(page), "This.");
});

test("Escape stops the answer: the model is let go, what was said stays and says that it was stopped", async (t) => {
  const { page, url, model } = await stage(t);
  await page.goto(url);
  await ask(page, "Tell me a long story.");
  const reply = await model.next();
  reply.say("Once upon a time");
  await reads(prose(page), "Once upon a time");
  await page.keyboard.press("Escape");
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await reply.gone;
  await page.reload();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await reads(prose(page), "Once upon a time");
});

test("administrators see under an answer what its tools were called with", async (t) => {
  const { page, url, model, search } = await stage(t);
  await page.goto(url);
  await ask(page, "Tea?");
  (await model.next()).search("tea");
  (await search.next()).answer(2);
  const reply = await model.next();
  reply.say("Leaves.");
  reply.end();
  for (const look of ["live", "stored"]) {
    await lastAnswer(page).getByText("Details").click();
    const cells = lastAnswer(page).locator(".calls td");
    await cells.first().waitFor();
    const words = await cells.allTextContents();
    assert.deepEqual([words[0], JSON.parse(words[1]), words[2], words[5]], ["search_web", { query: "tea" }, "done", "2"]);
    assert.match(words[4], /byte|KiB/);
    if (look === "live") await page.reload();
  }
});

test("an answer goes on while another conversation is open, and is there on return", async (t) => {
  const { page, url, model } = await stage(t);
  await page.goto(url);
  await ask(page, "First question");
  const slow = await model.next();
  slow.say("Slow");
  await reads(prose(page), "Slow");
  await page.getByRole("button", { name: "New conversation" }).click();
  await ask(page, "Second question");
  const quick = await model.next();
  quick.say("Quick");
  quick.end();
  await lastAnswer(page).locator(".usage").waitFor();
  slow.say(" and steady");
  await page.getByRole("link", { name: "First question" }).click();
  await reads(prose(page), "Slow and steady");
  slow.say(" wins.");
  slow.end();
  await reads(prose(page), "Slow and steady wins.");
});

test("the answer and a block of code can be copied", async (t) => {
  const world = await stage(t, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
  const { page, url } = world;
  await page.goto(url);
  await askAndAnswer(world, "Code?", "Here:\n\n```js\nlet a = 1;\n```");
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await prose(page).getByRole("button", { name: "Copy" }).click();
  await prose(page).getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await clipboard(), "let a = 1;");
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy" }).click();
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await clipboard(), "Here:\n\n```js\nlet a = 1;\n```");
});
