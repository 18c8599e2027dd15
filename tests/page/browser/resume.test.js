// Lost connections and running turns: resumed streams, reloads, other clients and failover.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lastAnswer, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";
import { openModel, openProxy } from "../support/endpoints.js";

test("f020_ a continued answer names the second model", async (t) => {
  const [first, backup] = await Promise.all([openModel(), openModel()]);
  t.after(() => [first, backup].forEach((model) => model.close()));
  const entry = (name, { url }, more) => ({ name, baseUrl: `${url}/v1`, model: "test-model", ...more });
  const models = [entry("first", first, { fallback: "backup" }), entry("backup", backup)];
  const settings = { MODELS: JSON.stringify(models), DEFAULT_MODEL: "first" };
  const { page, url } = await setUp(t, { settings });
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const broken = await first.next();
  broken.sendText("The first half");
  await waitForText(prose(page), "The first half");
  broken.disconnect();
  const reply = await backup.next();
  reply.sendText(" and the second.");
  reply.end();
  await waitForText(prose(page), "The first half and the second.");
  await lastAnswer(page).getByText("Continued by backup").waitFor();
  await page.reload();
  await lastAnswer(page).getByText("Continued by backup").waitFor();
});

const toast = (page) => page.locator("#toast");

test("a lost stream resumes without loss or duplicates", async (t) => {
  const { page, url, model } = await setUp(t);
  const proxy = await openProxy(url);
  t.after(() => proxy.close());
  await page.goto(proxy.url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  for (const delta of ["One", " two", " three"]) {
    reply.sendText(delta);
    await prose(page).getByText(delta.trim()).waitFor();
    proxy.disconnect();
  }
  reply.sendText(" and the rest.");
  reply.end();
  await waitForText(prose(page), "One two three and the rest.");
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
  assert.equal(await page.getByRole("button", { name: "Send" }).count(), 1);
});

/** Why a stream cannot be resumed, and the server's response to a client with the frames up to `last`. */
const LOST = [
  ["no stream", () => ({ status: 204 })],
  ["stream interrupted", (last) => ({ contentType: "text/event-stream", body: interrupted(last) })],
];

function interrupted(last) {
  const [turn, number] = last.split("-");
  const event = { type: "error", code: "interrupted", message: "Interrupted.", retryable: true, requestId: "r" };
  return `id: ${turn}-${Number(number) + 1}\ndata: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
}

for (const [why, response] of LOST) {
  test(`a lost stream loads the stored answer (${why})`, async (t) => {
    const { page, url, model } = await setUp(t);
    const proxy = await openProxy(url);
    t.after(() => proxy.close());
    let resumed;
    const resuming = new Promise((resolve) => {
      resumed = resolve;
    });
    await page.route("**/stream", (route) => resumed(route), { times: 1 });
    await page.goto(proxy.url);
    await sendMessage(page, "Tell me.");
    const reply = await model.next();
    reply.sendText("The first half");
    await waitForText(prose(page), "The first half");
    proxy.disconnect();
    const route = await resuming;
    reply.sendText(" and the second.");
    reply.end();
    await waitUntilStored(url, page.url().split("/").at(-1));
    await route.fulfill(response(route.request().headers()["last-event-id"]));
    await waitForText(prose(page), "The first half and the second.");
    await lastAnswer(page)
      .getByText("Interrupted: the connection was lost. This is what the server stored.")
      .waitFor();
    assert.deepEqual(await page.locator(".bubble").allTextContents(), ["Tell me."]);
    assert.equal(await page.locator(".answer").count(), 1);
    await page.getByRole("button", { name: "Send" }).waitFor();
  });
}

/** Waits until the last answer of a conversation is stored completely. */
async function waitUntilStored(url, id) {
  for (;;) {
    const { messages } = await (await fetch(`${url}/api/conversations/${id}`)).json();
    if (messages.at(-1).status !== "running") return;
  }
}

test("without a server the partial answer stays", async (t) => {
  const { page, url, model, server } = await setUp(t);
  const proxy = await openProxy(url);
  await page.goto(proxy.url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("The first half");
  await waitForText(prose(page), "The first half");
  await server().kill();
  proxy.close();
  await lastAnswer(page).getByText("Interrupted: the connection to the server was lost.").waitFor();
  await toast(page).getByText("The server can’t be reached.").waitFor();
  await waitForText(prose(page), "The first half");
  await lastAnswer(page).getByRole("button", { name: "Load the stored answer" }).waitFor();
});

/** An answer whose server is killed, and has stored `stored` of it when it is back. */
async function killServer(t, { stored, beforeRestart }) {
  const { page, url, model, server, restart } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("The first **half");
  await waitForText(prose(page), "The first half");
  await server().kill();
  await beforeRestart(page);
  await page.route(/\/api\/conversations\/\w+(\?.*)?$/, async (route) => {
    const response = await route.fetch().catch(() => null);
    if (!response) return route.abort();
    const body = await response.json();
    Object.assign(body.messages.at(-1), { content: stored, status: "interrupted" });
    await route.fulfill({ response, json: body });
  });
  await restart();
  return page;
}

const continueButton = (page) => lastAnswer(page).getByRole("button", { name: "Continue" });

test("a killed server's answer can continue once it is back", async (t) => {
  const page = await killServer(t, { stored: "The first **half", beforeRestart: () => {} });
  await continueButton(page).waitFor();
  await lastAnswer(page).getByText("This answer was interrupted.").waitFor();
  await waitForText(prose(page), "The first half");
});

test("a longer text stays until its stored beginning continues", async (t) => {
  const lost = (page) => toast(page).getByText("The server can’t be reached.").waitFor();
  const page = await killServer(t, { stored: "The first", beforeRestart: lost });
  await lastAnswer(page).getByText("the server hasn’t stored this text in full").waitFor();
  await waitForText(prose(page), "The first half");
  await page.route("**/continue", (route) => route.abort());
  await continueButton(page).click();
  await waitForText(prose(page), "The first");
  await continueButton(page).waitFor();
});

test("a running answer continues and stops after reload", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Slowly");
  await waitForText(prose(page), "Slowly");
  await page.reload();
  await waitForText(prose(page), "Slowly");
  reply.sendText(" it comes");
  await waitForText(prose(page), "Slowly it comes");
  await page.getByRole("button", { name: "Stop" }).click();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await reply.closed;
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
});

test("an answer that ended unread is complete", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Slowly");
  await waitForText(prose(page), "Slowly");
  await page.goto("about:blank");
  reply.sendText(" it came.");
  reply.end();
  await page.goBack();
  await waitForText(prose(page), "Slowly it came.");
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
});

/** Deletes the page's conversation as another client. */
async function deleteRemotely(page, url) {
  const id = page.url().split("/").at(-1);
  const deleted = await fetch(`${url}/api/conversations/${id}`, { method: "DELETE" });
  assert.equal(deleted.status, 204);
}

test("deletion by another client shows a message", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  await page.waitForURL(/#\/c\//);
  const following = page.waitForResponse(/\/stream$/);
  await page.reload();
  await following;
  await deleteRemotely(page, url);
  await page.getByText("This conversation doesn’t exist. It may have been deleted.").waitFor();
});

test("deletion before the stream opens shows a message", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  await page.waitForURL(/#\/c\//);
  let allowStream;
  const allowed = new Promise((resolve) => {
    allowStream = resolve;
  });
  await page.route(/\/stream$/, (route) => allowed.then(() => route.continue()));
  await page.reload();
  await lastAnswer(page).waitFor();
  await deleteRemotely(page, url);
  allowStream();
  await page.getByText("This conversation doesn’t exist. It may have been deleted.").waitFor();
});

test("two pages follow the same answer", async (t) => {
  const { page, url, model, context } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Both");
  await waitForText(prose(page), "Both");
  const other = await context.newPage();
  await other.goto(page.url());
  await waitForText(prose(other), "Both");
  reply.sendText(" of us.");
  reply.end();
  for (const reader of [page, other]) await waitForText(prose(reader), "Both of us.");
});
