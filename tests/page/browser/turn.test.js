// A turn as a person sees it: the question, the search, the growing answer, and what is left of it afterwards.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sendMessage, exchange, lastAnswer, prose, waitForText, setUp } from "../support/fixture.js";
import { openTool } from "../support/endpoints.js";

test("a question, its search, its sources and its answer appear as they happen", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "What is the weather in Beijing?");
  await waitForText(page.locator(".bubble"), "What is the weather in Beijing?");

  const first = await model.next();
  await waitForText(lastAnswer(page).locator(".status"), "Waiting for the model…");
  first.sendReasoning("They sendMessage for the weather.");
  await lastAnswer(page).getByText("Thinking…", { exact: true }).first().waitFor();
  first.sendText("One moment.");
  await waitForText(prose(page), "One moment.");
  first.callSearch("Beijing weather");

  const searchCall = await search.next();
  await waitForText(lastAnswer(page).locator(".step.running"), "SearchingBeijing weather");
  await waitForText(lastAnswer(page).locator(".status"), "Searching: Beijing weather…");
  assert.equal(searchCall.body.query, "Beijing weather");
  searchCall.respond(10, [{ title: "Beijing today", url: "https://weather.example/beijing" }]);
  await lastAnswer(page)
    .locator(".step.ok", { hasText: /10 results · (< )?\d+\.\d s$/ })
    .waitFor();
  const source = lastAnswer(page)
    .locator(".sources")
    .getByRole("link", { name: /Beijing today/ });
  assert.equal(await source.getAttribute("href"), "https://weather.example/beijing");

  const second = await model.next();
  second.sendText("It is **sun");
  await waitForText(prose(page).locator("strong"), "sun");
  second.sendText("ny** [1].");
  await waitForText(prose(page).locator("strong"), "sunny");
  second.end();
  await lastAnswer(page).locator(".usage").waitFor();
  const citation = prose(page).getByRole("link", { name: "Source 1" });
  assert.equal(await citation.getAttribute("href"), "https://weather.example/beijing");
  assert.equal(await lastAnswer(page).locator(".thinking").getAttribute("open"), null);
});

test("what a tool says while it runs is shown by its last line, and goes when the result is there", async (t) => {
  const host = await openTool();
  t.after(() => host.close());
  const { page, url, model } = await setUp(t, { settings: { ALLOW_PRIVATE_TOOLS: "yes" } });
  const define = async (method, path, body) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/admin/${path}`, { method, headers, body: JSON.stringify(body) });
    assert.ok(answer.ok, await answer.text());
  };
  const endpoint = { urlTemplate: `${host.url}/report` };
  await define("POST", "tools", { name: "report", description: "Reports.", type: "streamable", endpoint });
  await define("PUT", "agents/default", { name: "Default", tools: [{ tool: "report" }] });
  await page.goto(url);
  await sendMessage(page, "Report, please.");
  const toolRound = await model.next();
  toolRound.sendText('<tool_call>{"tool":"report"}</tool_call>');
  toolRound.end();
  const call = await host.next();
  const running = lastAnswer(page).locator(".step.running");
  await waitForText(running, "Using report");
  call.sendText("Reading page 1 of 3\nReading page");
  await waitForText(running.locator(".outcome"), "Reading page");
  call.sendText(" 2 of 3\n");
  await waitForText(running.locator(".outcome"), "Reading page 2 of 3");
  call.sendText("\nReading page 3 of 3");
  await waitForText(running.locator(".outcome"), "Reading page 3 of 3");
  call.end();
  const done = lastAnswer(page).locator(".step.ok");
  await done.filter({ hasText: /^Used report/ }).waitFor();
  assert.doesNotMatch(await done.textContent(), /Reading page/);
  const reply = await model.next();
  reply.sendText("All is well.");
  reply.end();
  await waitForText(prose(page), "All is well.");
});

test("an answer is still there after a reload and after a restart of the server", async (t) => {
  const fixture = await setUp(t);
  const { page, url, restart } = fixture;
  await page.goto(url);
  await exchange(fixture, "Who wrote Faust?", "It was *Goethe*.");
  assert.match(page.url(), /#\/c\/\w+$/);
  for (const again of [
    () => page.reload(),
    async () => {
      await restart();
      await page.reload();
    },
  ]) {
    await again();
    await waitForText(prose(page), "It was Goethe.");
    await waitForText(prose(page).locator("em"), "Goethe");
    await waitForText(page.locator(".bubble"), "Who wrote Faust?");
    await page.getByRole("navigation").getByRole("link", { name: "Who wrote Faust?" }).waitFor();
  }
});

test("steps and sources of a stored answer are shown as they were", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "News?");
  (await model.next()).callSearch("news");
  (await search.next()).respond(6);
  const reply = await model.next();
  reply.sendText("Nothing new [2].");
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
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "News?");
  (await model.next()).callSearch("news");
  (await search.next()).fail(400);
  const reply = await model.next();
  await lastAnswer(page).locator(".step.failed .outcome").filter({ hasText: /\w/ }).waitFor();
  reply.sendText("I could not search.");
  reply.end();
  await waitForText(prose(page), "I could not search.");
});

test("f032_ f033_ an answer that was cut short is flagged in words", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  for (const [reason, words] of [
    ["length", /output limit/],
    ["content_filter", /content filter/],
  ]) {
    await sendMessage(page, `End with ${reason}`);
    const reply = await model.next();
    reply.sendText("As far as");
    reply.end(reason);
    await lastAnswer(page).locator(".note").filter({ hasText: words }).waitFor();
    await waitForText(prose(page), "As far as");
  }
});

test("f020_ a model that breaks off is an error in words, with the answer so far and a way to try again", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const broken = await model.next();
  broken.sendText("Half an ans");
  await waitForText(prose(page), "Half an ans");
  broken.disconnect();
  await lastAnswer(page).locator(".note.failed").getByText("The connection to the model was lost.").waitFor();
  await waitForText(prose(page), "Half an ans");
  await lastAnswer(page).getByRole("button", { name: "Try again" }).click();
  const whole = await model.next();
  whole.sendText("A whole answer.");
  whole.end();
  await waitForText(prose(page), "A whole answer.");
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["Tell me."]);
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);

  await page.reload();
  await waitForText(prose(page), "A whole answer.");
  assert.equal(await page.locator(".turn").count(), 2);
});

test("an answer can be asked for again, and takes the place of the one before", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "First?", "One.");
  await exchange(fixture, "Second?", "Two.");
  const again = page.getByRole("button", { name: "Answer again" });
  assert.equal(await again.count(), 1, "only the newest answer can be");
  await again.click();
  const reply = await model.next();
  assert.doesNotMatch(JSON.stringify(reply.body.messages), /Two\./);
  reply.sendText("Better.");
  reply.end();
  await waitForText(prose(page), "Better.");
  await page.reload();
  await waitForText(prose(page), "Better.");
  assert.deepEqual(await page.locator(".prose").allTextContents(), ["One.", "Better."]);
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["First?", "Second?"]);
});

test("when toolRound again comes to nothing the answer before stays", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "Tell me.", "This.");
  await page.getByRole("button", { name: "Answer again" }).click();
  (await model.next()).fail(401);
  await page.locator("#toast").filter({ hasText: /\w/ }).waitFor();
  await waitForText(prose(page), "This.");
  await page.getByRole("button", { name: "Answer again" }).click();
  const broken = await model.next();
  broken.sendText("Half an ans");
  await waitForText(prose(page), "Half an ans");
  broken.disconnect();
  await page.locator("#toast").getByText("The connection to the model was lost.").waitFor();
  await waitForText(prose(page), "This.");
  await page.route("**/regenerate", (route) => route.abort());
  await page.getByRole("button", { name: "Answer again" }).click();
  await page.locator("#toast").getByText("The server cannot be reached.").waitFor();
  await waitForText(prose(page), "This.");
});

test("Escape stops the answer: the model is let go, what was said stays and says that it was stopped", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me a long story.");
  const reply = await model.next();
  reply.sendText("Once upon a time");
  await waitForText(prose(page), "Once upon a time");
  await page.keyboard.press("Escape");
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await reply.closed;
  await page.reload();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await waitForText(prose(page), "Once upon a time");
});

test("administrators see under an answer what its tools were called with", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tea?");
  (await model.next()).callSearch("tea");
  (await search.next()).respond(2);
  const reply = await model.next();
  reply.sendText("Leaves.");
  reply.end();
  for (const look of ["live", "stored"]) {
    await lastAnswer(page).getByText("Details").click();
    const cells = lastAnswer(page).locator(".call-details td");
    await cells.first().waitFor();
    const words = await cells.allTextContents();
    assert.deepEqual([words[0], JSON.parse(words[1]), words[2], words[5]], ["search_web", { query: "tea" }, "done", "2"]);
    assert.match(words[4], /byte|KiB/);
    if (look === "live") await page.reload();
  }
});

test("an answer goes on while another conversation is open, and is there on return", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "First question");
  const slow = await model.next();
  slow.sendText("Slow");
  await waitForText(prose(page), "Slow");
  await page.getByRole("button", { name: "New conversation" }).click();
  await sendMessage(page, "Second question");
  const quick = await model.next();
  quick.sendText("Quick");
  quick.end();
  await lastAnswer(page).locator(".usage").waitFor();
  slow.sendText(" and steady");
  await page.getByRole("link", { name: "First question" }).click();
  await waitForText(prose(page), "Slow and steady");
  slow.sendText(" wins.");
  slow.end();
  await waitForText(prose(page), "Slow and steady wins.");
});

test("the answer and a block of code can be copied", async (t) => {
  const fixture = await setUp(t, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Code?", "Here:\n\n```js\nlet a = 1;\n```");
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await prose(page).getByRole("button", { name: "Copy" }).click();
  await prose(page).getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await clipboard(), "let a = 1;");
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy" }).click();
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await clipboard(), "Here:\n\n```js\nlet a = 1;\n```");
});
