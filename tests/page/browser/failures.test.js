// Failed requests: rejections, waits, offline messages and drafts. The page never loses typed text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

const toast = (page) => page.locator("#toast");

test("f099_ a second message is rejected and kept", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model, context } = fixture;
  await page.goto(url);
  await exchange(fixture, "Hello?", "Yes.");
  // Another browser: pages of the same one follow the answer.
  const otherContext = await context.browser().newContext({ locale: "en-GB" });
  t.after(() => otherContext.close());
  const other = await otherContext.newPage();
  await other.goto(page.url());
  await waitForText(prose(other), "Yes.");
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Slowly");
  await waitForText(prose(page), "Slowly");
  await sendMessage(other, "And this?");
  await toast(other)
    .getByText(/already being written.* You can try again in \d+ seconds?\./)
    .waitFor();
  assert.equal(await messageBox(other).inputValue(), "And this?");
  assert.equal(await toast(other).getByRole("button", { name: "Send again" }).isDisabled(), true);
  assert.deepEqual(await other.locator(".bubble").allTextContents(), ["Hello?"]);
});

test("a rate limit shows the wait", async (t) => {
  const fixture = await setUp(t, { settings: { CHAT_RATE_LIMIT: "1/600s" } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  await sendMessage(page, "Second");
  await toast(page)
    .getByText(/You can try again in 10 minutes\./)
    .waitFor();
  assert.equal(await messageBox(page).inputValue(), "Second");
});

test("f141_ an exhausted budget shows its reset time", async (t) => {
  const fixture = await setUp(t, { settings: { USER_DAILY_TOKENS: "1" } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  await sendMessage(page, "Second");
  await toast(page)
    .getByText(/^The budget is used up\. You can try again in (\d+ (hours?|minutes|seconds?))\./)
    .waitFor();
  assert.equal(await messageBox(page).inputValue(), "Second");
  assert.equal(await toast(page).getByRole("button", { name: "Send again" }).count(), 0);
});

test("an offline message is restored and resendable", async (t) => {
  const { page, url, context, model } = await setUp(t);
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  await context.setOffline(true);
  await sendMessage(page, "Are you there?");
  await toast(page).getByText("You’re offline. Your message is back in the message box.").waitFor();
  assert.equal(await messageBox(page).inputValue(), "Are you there?");
  assert.equal(await page.locator(".turn").count(), 0);
  await context.setOffline(false);
  await toast(page).getByRole("button", { name: "Send again" }).click();
  const reply = await model.next();
  reply.sendText("Yes.");
  reply.end();
  await waitForText(prose(page), "Yes.");
});

test("f098_ a retry without response reuses its key", async (t) => {
  const { page, url } = await setUp(t);
  const keys = [];
  await page.route("**/api/chat", (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    return route.abort();
  });
  await page.goto(url);
  for (const text of ["Same", "Same", "Other"]) {
    await sendMessage(page, text);
    await toast(page).getByText("The server can’t be reached.").waitFor();
  }
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[1], keys[2]);
  assert.match(keys[0], /^\d+(-\d+){3}$/);
});

test("a restored message precedes the newer draft", async (t) => {
  const { page, url } = await setUp(t);
  let fail;
  await page.route("**/api/chat", (route) => {
    fail = () => route.abort();
  });
  await page.goto(url);
  const sent = page.waitForRequest("**/api/chat");
  await sendMessage(page, "First");
  await sent;
  await messageBox(page).fill("Second");
  await fail();
  await toast(page).waitFor();
  assert.equal(await messageBox(page).inputValue(), "First\n\nSecond");
});

test("a draft survives reload in its conversation", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  await messageBox(page).fill("Half a thou");
  await page.getByRole("button", { name: "New conversation" }).click();
  await waitForText(page.locator("#welcome h2"), "What would you like to know?");
  assert.equal(await messageBox(page).inputValue(), "");
  await page.goBack();
  await waitForText(prose(page), "Yes.");
  assert.equal(await messageBox(page).inputValue(), "Half a thou");
  await page.reload();
  await waitForText(prose(page), "Yes.");
  assert.equal(await messageBox(page).inputValue(), "Half a thou");
});

test("f103_ the composer enforces the message limit", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await messageBox(page).fill("🌦".repeat(31_990));
  await page.getByText("31,990 of 32,000 characters").waitFor();
  await messageBox(page).fill("🌦".repeat(32_002));
  await page.getByText("2 characters over the limit of 32,000.").waitFor();
  await messageBox(page).press("Enter");
  assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
  assert.equal(await page.locator(".turn").count(), 0);
});

test("a toast can be dismissed", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  // The whole server is out of reach: any successful request would hide the toast by itself.
  await page.route(/\/(api\/|healthz)/, (route) => route.abort());
  await sendMessage(page, "Hello");
  await toast(page).getByText("The server can’t be reached.").waitFor();
  await toast(page).getByRole("button", { name: "Dismiss" }).click();
  await toast(page).waitFor({ state: "hidden" });
  assert.equal(await messageBox(page).inputValue(), "Hello");
});

test("an example leaves the draft unchanged", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await messageBox(page).fill("My own words");
  await page.getByRole("button", { name: "How do heat pumps work?" }).click();
  const reply = await model.next();
  reply.sendText("Well.");
  reply.end();
  await waitForText(prose(page), "Well.");
  assert.equal(await messageBox(page).inputValue(), "My own words");
});

test("a proxy's error response is shown", async (t) => {
  const { page, url } = await setUp(t);
  await page.route("**/api/chat", (route) =>
    route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }),
  );
  await page.goto(url);
  await sendMessage(page, "Hello");
  await toast(page).getByText("The server responded with status 502. Your message is back in the message box.").waitFor();
});

test("a failed answer keeps its error after a reload", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  (await model.next()).fail(401);
  const note = lastAnswer(page).locator(".note.failed");
  await note.getByText("The model’s provider rejected the server’s key.").waitFor();
  await page.reload();
  await note.getByText("The model’s provider rejected the server’s key.").waitFor();
  await lastAnswer(page).getByRole("button", { name: "Try again" }).waitFor();
});

test("the report of a server that was down ends when it is back", async (t) => {
  const { page, url, server, restart } = await setUp(t);
  await page.clock.install();
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  await server().stop();
  await sendMessage(page, "Are you there?");
  await toast(page).getByText("The server can’t be reached.").waitFor();
  await restart();
  // The page tries the server again ever more rarely.
  await page.clock.fastForward(320_000);
  await toast(page).getByText("The server can’t be reached.").waitFor({ state: "detached" });
  await toast(page).getByRole("button", { name: "Send again" }).waitFor();
  assert.equal(await messageBox(page).inputValue(), "Are you there?");
});
