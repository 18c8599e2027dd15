// Small things while reading and writing: keys with several meanings, copies, reasoning, waits, other tabs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

/** An answer that cites a page which a search found. */
async function citedAnswer({ page, model, search }, query = "tea") {
  await sendMessage(page, "Tea?");
  const first = await model.next();
  first.sendText("Let me look that up.\n");
  first.callSearch(query);
  (await search.next()).respond(3);
  const reply = await model.next();
  reply.sendText("Tea is **green** [2].");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
}

test("Escape closes a citation card before it stops the answer", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await citedAnswer(fixture);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once");
  await waitForText(prose(page), "Once");
  // The citation is above the new question, and scrolling to it hides cards.
  const citation = page.getByRole("link", { name: "Source 2" });
  await citation.scrollIntoViewIfNeeded();
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await citation.hover();
  await page.locator(".citation-card").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".citation-card").waitFor({ state: "detached" });
  reply.sendText(" upon a time.");
  reply.end();
  await waitForText(prose(page), "Once upon a time.");
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
});

test("a double click on Send sends and stops nothing", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await messageBox(page).fill("Hello?");
  await page.getByRole("button", { name: "Send" }).dblclick();
  const reply = await model.next();
  reply.sendText("Yes.");
  reply.end();
  await waitForText(prose(page), "Yes.");
  assert.equal(await messageBox(page).inputValue(), "");
});

test("a copied answer takes its sources along", async (t) => {
  const fixture = await setUp(t, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
  const { page, url } = fixture;
  await page.goto(url);
  await citedAnswer(fixture);
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).click();
  await lastAnswer(page).getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate(async () => {
    const [item] = await navigator.clipboard.read();
    const read = async (type) => (await item.getType(type)).text();
    return { plain: await read("text/plain"), html: await read("text/html") };
  });
  assert.equal(copied.plain, "Tea is **green** [2].\n\n[2] Result 2 – https://site2.example/page");
  assert.match(copied.html, /<strong>green<\/strong>/);
  assert.match(copied.html, /<a href="https:\/\/site2\.example\/page"[^>]*>\[2\]<\/a>/);
  assert.match(copied.html, /\[2\] <a href="https:\/\/site2\.example\/page"[^>]*>Result 2<\/a>/);
  assert.doesNotMatch(copied.html, /look that up|Result 1/);
});

test("open reasoning is formatted and follows its end", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Hm?");
  const reply = await model.next();
  reply.sendReasoning("**First** this.\n\n");
  await lastAnswer(page).locator(".thinking summary").click();
  await waitForText(lastAnswer(page).locator(".reasoning strong"), "First");
  const box = lastAnswer(page).locator(".reasoning");
  for (let n = 0; n < 60; n += 1) reply.sendReasoning(`Step ${n} of many.\n\n`);
  reply.sendReasoning("The end.\n\n");
  await box.getByText("The end.").waitFor();
  const distance = () => box.evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);
  await page.waitForFunction(() => document.querySelector(".reasoning").scrollTop > 100);
  assert.ok((await distance()) < 40);
  await box.evaluate((node) => node.scrollTo(0, 0));
  reply.sendReasoning("More of it.\n\n");
  await box.getByText("More of it.").waitFor();
  assert.equal(await box.evaluate(({ scrollTop }) => scrollTop), 0, "the reader has scrolled up");
  reply.sendText("So.");
  reply.end();
  await waitForText(prose(page), "So.");
});

test("reasoning that a reader has open stays when the answer begins", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tea?");
  const first = await model.next();
  first.sendReasoning("They want tea.");
  first.callSearch("tea");
  (await search.next()).respond(2);
  const second = await model.next();
  second.sendReasoning("Now I know.");
  await lastAnswer(page).locator(".thinking").nth(1).waitFor();
  await lastAnswer(page).locator(".thinking summary").first().click();
  await messageBox(page).focus();
  second.sendText("Green.");
  second.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.equal(await lastAnswer(page).getByText("They want tea.").isVisible(), true);
  assert.equal(await lastAnswer(page).locator(".rounds").count(), 0);
});

test("a conversation that another tab deletes is gone", async (t) => {
  const fixture = await setUp(t);
  const { page, url, context } = fixture;
  await page.goto(url);
  await exchange(fixture, "Hello?", "Yes.");
  const other = await context.newPage();
  await other.goto(page.url());
  await waitForText(prose(other), "Yes.");
  await page.getByRole("button", { name: "Actions for Hello?" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await other.getByText("This conversation doesn’t exist. It may have been deleted.").waitFor();
});

test("the report of a lost connection ends with it", async (t) => {
  const { page, url, context } = await setUp(t);
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  await context.setOffline(true);
  await sendMessage(page, "Are you there?");
  await page.locator("#toast").getByText("You’re offline.").waitFor();
  await context.setOffline(false);
  await page.locator("#toast").getByText("You’re offline.").waitFor({ state: "detached" });
  await page.locator("#toast").getByRole("button", { name: "Send again" }).waitFor();
});

test("two answers with sources are free of violations", async (t) => {
  const { assertAccessible } = await import("../support/axe.js");
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await citedAnswer(fixture);
  await citedAnswer(fixture, "more tea");
  await assertAccessible(page);
});

test("several steps are one line of what they found", async (t) => {
  const { page, url, model, search } = await setUp(t);
  const call = (name, value) => `<tool_call>${JSON.stringify({ tool: name, ...value })}</tool_call>`;
  await page.goto(url);
  await sendMessage(page, "Tea?");
  const first = await model.next();
  first.sendText(call("search_web", { query: "green" }) + call("search_web", { query: "black" }) + call("calculator", { expression: "1 +" }));
  first.end();
  (await search.next()).respond(3);
  (await search.next()).respond(2);
  const reply = await model.next();
  const line = lastAnswer(page).locator(".step.failed");
  await line.waitFor();
  assert.match((await line.textContent()).trim(), /^Searched and calculated (green · black|black · green) · 1 \+5 results · 1 failed3 steps$/);
  reply.sendText("Green.");
  reply.end();
  await waitForText(prose(page), "Green.");
});

test("a call that ends after the answer began is shown in the line of all", async (t) => {
  const { page, url } = await setUp(t);
  const call = (id) => ({ type: "tool_call", id, name: "search_web", arguments: { query: id } });
  const result = (id) => ({ type: "tool_result", id, name: "search_web", ok: true, summary: "2 results", sources: [] });
  const events = [
    { type: "start", conversationId: "01ANSWER", messageId: "01MESSAGE", model: "test-model" },
    ...[{ type: "thinking", thinking: "They want tea." }, call("tea"), result("tea")],
    ...[{ type: "thinking", thinking: "And more." }, call("green"), { type: "content", content: "Green." }],
  ];
  const frames = (list, from) => list.map((event, at) => `id: t-${from + at}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const stream = (body) => ({ contentType: "text/event-stream", body });
  await page.route("**/api/chat", (route) => route.fulfill(stream(frames(events, 1))));
  let end;
  const ends = new Promise((resolve) => (end = resolve));
  const last = [result("green"), { type: "done", finishReason: "stop" }];
  await page.route("**/stream", (route) => ends.then(() => route.fulfill(stream(frames(last, events.length + 1)))));
  await page.goto(url);
  await sendMessage(page, "Tea?");
  await lastAnswer(page).locator(".rounds > .step.running").waitFor();
  end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.match((await lastAnswer(page).locator(".rounds > .step.ok").textContent()).trim(), /^Searched tea · green4 results2 steps$/);
  assert.equal(await lastAnswer(page).locator(".spinner").count(), 0);
});

test("only administrators are offered the details of calls", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.route("**/api/me", (route) => route.fulfill({ json: { user: "ann", admin: false, auth: "api_key" } }));
  await page.goto(url);
  await citedAnswer(fixture);
  const account = page.waitForResponse("**/api/me");
  await lastAnswer(page).getByRole("button", { name: "More" }).click();
  await (await account).finished();
  // A later response of the same address shows that the page has read the first one.
  await page.getByRole("button", { name: "Settings" }).click();
  await page.locator(".account", { hasText: "Signed in as ann." }).waitFor({ state: "attached" });
  assert.equal(await lastAnswer(page).getByText("Details").count(), 0);
});

test("a copied selection has TeX for formulas and the sources that it cites", async (t) => {
  const { page, url, model, search } = await setUp(t, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
  await page.goto(url);
  await sendMessage(page, "Tea?");
  (await model.next()).callSearch("tea");
  (await search.next()).respond(3);
  const reply = await model.next();
  reply.sendText("Tea is **green** [2]. So $x^2$ is\n\n$$\\frac{a}{b}$$\n\nand it ends. Not copied [1].");
  reply.end();
  await prose(page).locator("mfrac").waitFor();
  const copied = await page.evaluate(async () => {
    const paragraphs = document.querySelectorAll(".prose > *");
    const range = new Range();
    range.setStart(paragraphs[0].firstChild, 4);
    range.setEnd(paragraphs[2].firstChild, "and it ends".length);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
    const [item] = await navigator.clipboard.read();
    const read = async (type) => (await item.getType(type)).text();
    return { plain: await read("text/plain"), html: await read("text/html") };
  });
  assert.match(copied.plain, /^is green\s*\[2\]\. So \$x\^2\$ is\n+\$\$\\frac\{a\}\{b\}\$\$\n+and it ends\n\n\[2\] Result 2 – https:\/\/site2\.example\/page$/);
  assert.match(copied.html, /<strong>green<\/strong>.*\$x\^2\$/s);
  assert.doesNotMatch(copied.html, /Result 1|<math/);
  assert.equal(await page.locator("body > .offscreen:not([id])").count(), 0);
});
