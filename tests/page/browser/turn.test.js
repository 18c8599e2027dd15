// A turn as the user sees it: the message, the search, the streamed answer and the stored answer.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openTool } from "../support/endpoints.js";
import { exchange, lastAnswer, openSources, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

test("a turn streams search, sources and answer", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "What is the weather in Beijing?");
  await waitForText(page.locator(".bubble"), "What is the weather in Beijing?");

  const first = await model.next();
  await waitForText(lastAnswer(page).locator(".status"), "Waiting for the model…");
  first.sendReasoning("They want the weather.");
  await lastAnswer(page).getByText("Thinking…", { exact: true }).first().waitFor();
  first.sendText("One moment.");
  await waitForText(prose(page), "One moment.");
  first.callSearch("Beijing weather");

  const searchCall = await search.next();
  await waitForText(lastAnswer(page).locator(".step.running"), "Searching Beijing weather");
  assert.equal(searchCall.body.query, "Beijing weather");
  searchCall.respond(10, [{ title: "Beijing today", url: "https://weather.example/beijing" }]);
  await lastAnswer(page)
    .locator(".step.ok", { hasText: "10 results" })
    .waitFor();
  const second = await model.next();
  second.sendText("It is **sun");
  await waitForText(prose(page).locator("strong"), "sun");
  second.sendText("ny** [1].");
  await waitForText(prose(page).locator("strong"), "sunny");
  second.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await openSources(page);
  const source = lastAnswer(page)
    .locator(".sources")
    .getByRole("link", { name: /Beijing today/ });
  assert.equal(await source.getAttribute("href"), "https://weather.example/beijing");
  const citation = prose(page).getByRole("link", { name: "Source 1" });
  assert.equal(await citation.getAttribute("href"), "https://weather.example/beijing");
  assert.equal(await lastAnswer(page).locator(".thinking").getAttribute("open"), null);
});

test("tool progress shows its last line", async (t) => {
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

test("an answer survives reload and server restart", async (t) => {
  const fixture = await setUp(t);
  const { page, url, restart } = fixture;
  await page.goto(url);
  await exchange(fixture, "Who wrote Faust?", "It was *Goethe*.");
  assert.match(page.url(), /#\/c\/\w+$/);
  for (const reopen of [
    () => page.reload(),
    async () => {
      await restart();
      await page.reload();
    },
  ]) {
    await reopen();
    await waitForText(prose(page), "It was Goethe.");
    await waitForText(prose(page).locator("em"), "Goethe");
    await waitForText(page.locator(".bubble"), "Who wrote Faust?");
    await page.getByRole("navigation").getByRole("link", { name: "Who wrote Faust?" }).waitFor();
  }
});

test("a stored answer shows steps and sources", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "News?");
  (await model.next()).callSearch("news");
  (await search.next()).respond(6);
  const reply = await model.next();
  reply.sendText("Nothing new [2].");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await lastAnswer(page)
    .locator(".step.ok", { hasText: /Searched\s*news.*6 results/ })
    .waitFor();
  assert.equal(await lastAnswer(page).locator(".sources li:visible").count(), 0);
  await lastAnswer(page).getByRole("button", { name: "6 sources", expanded: false }).click();
  assert.equal(await lastAnswer(page).locator(".sources li:visible").count(), 6);
  assert.equal(
    await prose(page).getByRole("link", { name: "Source 2" }).getAttribute("href"),
    "https://site2.example/page",
  );
});

test("a citation of an earlier answer links to its page, also after a reload", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "News?");
  (await model.next()).callSearch("news");
  (await search.next()).respond(2);
  const first = await model.next();
  first.sendText("Nothing [1].");
  first.end();
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy", exact: true }).waitFor();
  await exchange({ page, model }, "Are you sure?", "Yes [2], both [1, 2], not [7].");
  for (const reopen of [async () => {}, () => page.reload()]) {
    await reopen();
    await prose(page).getByText(/^Yes/).waitFor();
    assert.equal((await prose(page).textContent()).replaceAll("\u2060", ""), "Yes2, both12, not.");
    const citations = await prose(page)
      .getByRole("link", { name: /^Source \d$/ })
      .evaluateAll((all) => all.map((link) => link.href));
    assert.deepEqual(citations, [2, 1, 2].map((n) => `https://site${n}.example/page`));
  }
});

test("a failed search does not end the answer", async (t) => {
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

test("f032_ f033_ an incomplete answer shows its reason", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  for (const [reason, text] of [
    ["length", /output limit/],
    ["content_filter", /content filter/],
  ]) {
    await sendMessage(page, `End with ${reason}`);
    const reply = await model.next();
    reply.sendText("As far as");
    reply.end(reason);
    await lastAnswer(page).locator(".note").filter({ hasText: text }).waitFor();
    await waitForText(prose(page), "As far as");
  }
});

test("administrators see the arguments of tool calls", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tea?");
  (await model.next()).callSearch("tea");
  (await search.next()).respond(2);
  const reply = await model.next();
  reply.sendText("Leaves.");
  reply.end();
  for (const view of ["live", "stored"]) {
    await lastAnswer(page).getByRole("button", { name: "More" }).click();
    await lastAnswer(page).getByText("Details").click();
    const cells = lastAnswer(page).locator(".call-details td");
    await cells.first().waitFor();
    const texts = await cells.allTextContents();
    assert.deepEqual([texts[0], JSON.parse(texts[1]), texts[2], texts[5]], ["search_web", { query: "tea" }, "done", "2"]);
    assert.match(texts[4], /byte|KiB/);
    if (view === "live") await page.reload();
  }
});

test("an answer continues while another conversation is open", async (t) => {
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
  await lastAnswer(page).locator(".message-actions").waitFor();
  slow.sendText(" and steady");
  await page.getByRole("link", { name: "First question" }).click();
  await waitForText(prose(page), "Slow and steady");
  slow.sendText(" wins.");
  slow.end();
  await waitForText(prose(page), "Slow and steady wins.");
});

test("answers and code blocks can be copied", async (t) => {
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
