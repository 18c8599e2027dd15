// What goes wrong between the page and the server: refusals, waits, lost connections, keys. Nothing typed is ever lost.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sendMessage, exchange, lastAnswer, prose, waitForText, setUp } from "../support/fixture.js";
import { openProxy, openModel } from "../support/endpoints.js";

test("f020_ an answer that another model continued says so, also when it is read again", async (t) => {
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

const box = (page) => page.getByRole("textbox", { name: "Message" });
const toast = (page) => page.locator("#toast");

test("c2 a stream that is cut is taken up again where it was, without loss or doubling", async (t) => {
  const { page, url, model } = await setUp(t);
  const proxy = await openProxy(url);
  t.after(() => proxy.close());
  await page.goto(proxy.url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  for (const word of ["One", " two", " three"]) {
    reply.sendText(word);
    await prose(page).getByText(word.trim()).waitFor();
    proxy.disconnect();
  }
  reply.sendText(" and the rest.");
  reply.end();
  await waitForText(prose(page), "One two three and the rest.");
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
  assert.equal(await page.getByRole("button", { name: "Send" }).count(), 1);
});

/** Why a stream cannot be taken up again, and what the server answers then to who has it up to a frame. */
const LOST = [
  ["the server has nothing of it", () => ({ status: 204 })],
  ["the server cannot go on telling it", (last) => ({ contentType: "text/event-stream", body: interrupted(last) })],
];

function interrupted(last) {
  const [turn, number] = last.split("-");
  const event = { type: "error", code: "interrupted", message: "Interrupted.", retryable: true, requestId: "r" };
  return `id: ${turn}-${Number(number) + 1}\ndata: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
}

for (const [why, answer] of LOST) {
  test(`c2 a stream that is cut and cannot be taken up again, because ${why}, is read as it is stored`, async (t) => {
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
    await settled(url, page.url().split("/").at(-1));
    await route.fulfill(answer(route.request().headers()["last-event-id"]));
    await waitForText(prose(page), "The first half and the second.");
    await lastAnswer(page)
      .getByText("Interrupted: the connection was lost while you were reading. This is the answer as the server has it.")
      .waitFor();
    assert.deepEqual(await page.locator(".bubble").allTextContents(), ["Tell me."]);
    assert.equal(await page.locator(".answer").count(), 1);
    await page.getByRole("button", { name: "Send" }).waitFor();
  });
}

/** Waits until the answer in a conversation is stored whole. */
async function settled(url, id) {
  for (;;) {
    const { messages } = await (await fetch(`${url}/api/conversations/${id}`)).json();
    if (messages.at(-1).status !== "running") return;
  }
}

test("c2 when the server is gone too, what was read stays, and can be read again later", async (t) => {
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
  await toast(page).getByText("The server cannot be reached.").waitFor();
  await waitForText(prose(page), "The first half");
  await lastAnswer(page).getByRole("button", { name: "Load what the server has" }).waitFor();
});

test("an answer that is still being written goes on after a reload, and can be stopped there", async (t) => {
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

test("an answer that ended while nobody read it is whole after a reload", async (t) => {
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

/** Deletes the conversation that the page shows, as somebody else would. */
async function deleteElsewhere(page, url) {
  const id = page.url().split("/").at(-1);
  const deleted = await fetch(`${url}/api/conversations/${id}`, { method: "DELETE" });
  assert.equal(deleted.status, 204);
}

test("a conversation that is deleted elsewhere while its answer is followed is said to be gone", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  await page.waitForURL(/#\/c\//);
  const following = page.waitForResponse(/\/stream$/);
  await page.reload();
  await following;
  await deleteElsewhere(page, url);
  await page.getByText("There is no such conversation. It may have been deleted.").waitFor();
});

test("a conversation that is deleted elsewhere before its answer can be followed is said to be gone", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  await page.waitForURL(/#\/c\//);
  let isGone;
  const gone = new Promise((resolve) => {
    isGone = resolve;
  });
  await page.route(/\/stream$/, (route) => gone.then(() => route.continue()));
  await page.reload();
  await lastAnswer(page).waitFor();
  await deleteElsewhere(page, url);
  isGone();
  await page.getByText("There is no such conversation. It may have been deleted.").waitFor();
});

test("f099_ a second message while an answer is being written is refused in words with the wait, and kept", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model, context } = fixture;
  await page.goto(url);
  await exchange(fixture, "Hello?", "Yes.");
  const other = await context.newPage();
  await other.goto(page.url());
  await waitForText(prose(other), "Yes.");
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Slowly");
  await waitForText(prose(page), "Slowly");
  await sendMessage(other, "And this?");
  await toast(other)
    .getByText(/still being written.* You can try again in \d+ seconds?\./)
    .waitFor();
  assert.equal(await box(other).inputValue(), "And this?");
  assert.equal(await toast(other).getByRole("button", { name: "Send again" }).isDisabled(), true);
  assert.deepEqual(await other.locator(".bubble").allTextContents(), ["Hello?"]);
});

test("two pages read the same answer as it is written", async (t) => {
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

test("too many messages are refused in words with the seconds to wait", async (t) => {
  const fixture = await setUp(t, { settings: { CHAT_RATE_LIMIT: "1/600s" } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  await sendMessage(page, "Second");
  await toast(page)
    .getByText(/You can try again in (600|59\d) seconds\./)
    .waitFor();
  assert.equal(await box(page).inputValue(), "Second");
});

test("f141_ a budget that is used up is said with the time it starts anew, and no button that cannot help", async (t) => {
  const fixture = await setUp(t, { settings: { USER_DAILY_TOKENS: "1" } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  await sendMessage(page, "Second");
  await toast(page)
    .getByText(/^Your token budget for today is used up\. It starts anew at \S+T00:00:00Z\. You can try again in /)
    .waitFor();
  assert.equal(await box(page).inputValue(), "Second");
  assert.equal(await toast(page).getByRole("button", { name: "Send again" }).count(), 0);
});

test("offline, the message goes back to the box and can be sent again", async (t) => {
  const { page, url, context, model } = await setUp(t);
  await page.goto(url);
  await page.getByText("Your conversations will be listed here.").waitFor();
  await context.setOffline(true);
  await sendMessage(page, "Are you there?");
  await toast(page).getByText("You are offline. Your message is back in the box.").waitFor();
  assert.equal(await box(page).inputValue(), "Are you there?");
  assert.equal(await page.locator(".turn").count(), 0);
  await context.setOffline(false);
  await toast(page).getByRole("button", { name: "Send again" }).click();
  const reply = await model.next();
  reply.sendText("Yes.");
  reply.end();
  await waitForText(prose(page), "Yes.");
});

test("f098_ a message that is sent again after no answer came carries the same idempotency key, another one does not", async (t) => {
  const { page, url } = await setUp(t);
  const keys = [];
  await page.route("**/api/chat", (route) => {
    keys.push(route.request().headers()["idempotency-key"]);
    return route.abort();
  });
  await page.goto(url);
  for (const text of ["Same", "Same", "Other"]) {
    await sendMessage(page, text);
    await toast(page).getByText("The server cannot be reached.").waitFor();
  }
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[1], keys[2]);
  assert.match(keys[0], /^[0-9a-f]{32}$/);
});

test("what was written meanwhile is kept below the message that comes back", async (t) => {
  const { page, url } = await setUp(t);
  let fail;
  await page.route("**/api/chat", (route) => {
    fail = () => route.abort();
  });
  await page.goto(url);
  const sent = page.waitForRequest("**/api/chat");
  await sendMessage(page, "First");
  await sent;
  await box(page).fill("Second");
  await fail();
  await toast(page).waitFor();
  assert.equal(await box(page).inputValue(), "First\n\nSecond");
});

test("a draft survives a reload and belongs to its conversation", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  await box(page).fill("Half a thou");
  await page.getByRole("button", { name: "New conversation" }).click();
  await waitForText(page.locator("#welcome h2"), "What would you like to know?");
  assert.equal(await box(page).inputValue(), "");
  await page.goBack();
  await waitForText(prose(page), "Yes.");
  assert.equal(await box(page).inputValue(), "Half a thou");
  await page.reload();
  await waitForText(prose(page), "Yes.");
  assert.equal(await box(page).inputValue(), "Half a thou");
});

test("f103_ characters are counted near the limit, and a message over it cannot be sent", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await box(page).fill("🌦".repeat(31_990));
  await page.getByText("31,990 of 32,000 characters").waitFor();
  await box(page).fill("🌦".repeat(32_002));
  await page.getByText("2 characters too many: a message has at most 32,000.").waitFor();
  await box(page).press("Enter");
  assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
  assert.equal(await page.locator(".turn").count(), 0);
});

test("f146_ the page asks for a key, keeps it for the session, and forgets it", async (t) => {
  const { page, url } = await setUp(t);
  const seen = new Set();
  await page.route("**/api/**", (route) => {
    const key = route.request().headers()["x-api-key"];
    if (key) seen.add(key);
    if (key === "right-key") return route.continue();
    const error = { code: "unauthorized", message: "A valid key is needed.", retryable: false, requestId: "r" };
    return route.fulfill({ status: 401, json: { error } });
  });
  await page.goto(url);
  const dialog = page.getByRole("dialog", { name: "A key is needed" });
  await dialog.getByLabel("Key").fill("not a key");
  await dialog.getByLabel("Key").press("Enter");
  await dialog.getByText("A key is made of letters, digits and signs, without spaces.").waitFor();
  await dialog.getByLabel("Key").fill("wrong-key");
  await dialog.getByLabel("Key").press("Enter");
  await dialog.getByText("That key was not accepted.").waitFor();
  await dialog.getByLabel("Key").fill("right-key");
  await dialog.getByRole("button", { name: "Use key" }).click();
  await page.getByText("Your conversations will be listed here.").waitFor();
  assert.deepEqual([...seen], ["wrong-key", "right-key"]);

  await page.reload();
  await page.getByText("Your conversations will be listed here.").waitFor();
  assert.equal(await dialog.isVisible(), false);
  assert.equal(await page.evaluate(() => Object.values(localStorage).join().includes("right-key")), false);
  await box(page).fill("Only mine");
  await page.getByRole("button", { name: "Forget key" }).click();
  await dialog.waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
  assert.ok(!page.url().includes("key"));

  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("navigation").getByRole("alert").getByText("A valid key is needed.").waitFor();
});

test("a key that is refused when a message is sent does not lose the message", async (t) => {
  const { page, url, model } = await setUp(t);
  let needed = false;
  await page.route("**/api/**", (route) => {
    if (!needed || route.request().headers()["x-api-key"] === "k") return route.continue();
    return route.fulfill({
      status: 401,
      json: { error: { code: "unauthorized", message: "A valid key is needed.", retryable: false } },
    });
  });
  await page.goto(url);
  await page.getByText("Your conversations will be listed here.").waitFor();
  needed = true;
  await sendMessage(page, "Hello");
  const dialog = page.getByRole("dialog", { name: "A key is needed" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await toast(page).getByText("A valid key is needed. Your message is back in the box.").waitFor();
  assert.equal(await box(page).inputValue(), "Hello");
  await box(page).press("Enter");
  await dialog.getByLabel("Key").fill("k");
  await dialog.getByLabel("Key").press("Enter");
  const reply = await model.next();
  reply.sendText("Hello.");
  reply.end();
  await waitForText(prose(page), "Hello.");
});

test("f147_ a server that does not know who may use it is explained", async (t) => {
  const { page, url } = await setUp(t);
  const error = {
    code: "auth_not_configured",
    message: "Authentication is not configured.",
    retryable: false,
    requestId: "r",
  };
  await page.route("**/api/**", (route) => route.fulfill({ status: 503, json: { error } }));
  await page.goto(url);
  const words = "This server has not been told who may use it. Whoever runs it must set AUTH to api_key or jwt.";
  await page.getByRole("navigation").getByRole("alert").getByText(words).waitFor();
  await toast(page).getByText(words).waitFor();
});

test("a notice can be dismissed", async (t) => {
  const { page, url } = await setUp(t);
  await page.route("**/api/chat", (route) => route.abort());
  await page.goto(url);
  await sendMessage(page, "Hello");
  await toast(page).getByText("The server cannot be reached.").waitFor();
  await toast(page).getByRole("button", { name: "Dismiss" }).click();
  await toast(page).waitFor({ state: "hidden" });
  assert.equal(await box(page).inputValue(), "Hello");
});

test("an example is asked without touching what is in the box", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await box(page).fill("My own words");
  await page.getByRole("button", { name: "How do heat pumps work?" }).click();
  const reply = await model.next();
  reply.sendText("Well.");
  reply.end();
  await waitForText(prose(page), "Well.");
  assert.equal(await box(page).inputValue(), "My own words");
});

test("an answer of some proxy in between is an error in words", async (t) => {
  const { page, url } = await setUp(t);
  await page.route("**/api/chat", (route) =>
    route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }),
  );
  await page.goto(url);
  await sendMessage(page, "Hello");
  await toast(page).getByText("The server answered with status 502. Your message is back in the box.").waitFor();
});
