// Branches of a conversation: edited questions, further answers, the switch between them, and deleted messages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

const question = (page, at) => page.locator(".turn.user").nth(at);
const bubbles = (page) => page.locator(".bubble").allTextContents();
const proses = (page) => page.locator(".answer .prose").allTextContents();

/** Opens the text field of a question and sends another text. */
async function edit(page, at, text) {
  await question(page, at).hover();
  await question(page, at).getByRole("button", { name: "Edit message" }).click();
  const box = page.getByRole("textbox", { name: "Edit message" });
  await box.fill(text);
  await box.press("Enter");
}

/** Answers the model's next call. */
async function reply({ page, model }, text) {
  const call = await model.next();
  call.sendText(text);
  call.end();
  await waitForText(prose(page), text);
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
  return call.body.messages.map(({ content }) => JSON.stringify(content)).join("\n");
}

async function twoExchanges(t, options) {
  const fixture = await setUp(t, options);
  await fixture.page.goto(fixture.url);
  await exchange(fixture, "First?", "One.");
  await exchange(fixture, "Second?", "Two.");
  return fixture;
}

test("an edited question keeps the other version with its answers", async (t) => {
  const fixture = await twoExchanges(t);
  const { page } = fixture;
  await edit(page, 0, "First, please?");
  const sent = await reply(fixture, "Uno.");
  assert.match(sent, /First, please\?/);
  assert.doesNotMatch(sent, /One\.|Second/);
  assert.deepEqual(await bubbles(page), ["First, please?"]);
  const versions = question(page, 0).getByRole("group", { name: "Version 2 of 2" });
  await versions.getByRole("button", { name: "Previous version" }).click();
  await waitForText(prose(page), "Two.");
  assert.deepEqual(await bubbles(page), ["First?", "Second?"]);
  await page.reload();
  await waitForText(prose(page), "Two.");
  const next = question(page, 0).getByRole("group", { name: "Version 1 of 2" }).getByRole("button", { name: "Next version" });
  await next.focus();
  await page.keyboard.press("Enter");
  await waitForText(prose(page), "Uno.");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Previous version", "the focus stays at the switch");
  // The branch that is shown is the one that continues.
  await sendMessage(page, "And then?");
  assert.match(await reply(fixture, "Due."), /First, please\?[^]*Uno\.[^]*And then\?/);
});

test("an edited question that is sent at once keeps the other version", async (t) => {
  const fixture = await twoExchanges(t);
  const { page } = fixture;
  // The ids of the messages arrive after the edited text was sent.
  let release;
  const sent = new Promise((resolve) => (release = resolve));
  await page.route(/\/api\/conversations\/\w+\?/, (route) => sent.then(() => route.continue()));
  await edit(page, 1, "Second, please?");
  release();
  assert.match(await reply(fixture, "Due."), /First\?[^]*One\.[^]*Second, please\?/);
  assert.deepEqual(await bubbles(page), ["First?", "Second, please?"]);
  await question(page, 1).getByRole("group", { name: "Version 2 of 2" }).getByRole("button", { name: "Previous version" }).click();
  await waitForText(prose(page), "Two.");
});

test("a later question is edited after its reload", async (t) => {
  const fixture = await twoExchanges(t);
  const { page } = fixture;
  await page.reload();
  await waitForText(prose(page), "Two.");
  await edit(page, 1, "Second, please?");
  const sent = await reply(fixture, "Due.");
  assert.match(sent, /First\?[^]*One\.[^]*Second, please\?/);
  assert.deepEqual(await bubbles(page), ["First?", "Second, please?"]);
  await page.reload();
  await question(page, 1).getByRole("group", { name: "Version 2 of 2" }).waitFor();
  assert.deepEqual(await bubbles(page), ["First?", "Second, please?"]);
});

test("an edited question that is rejected stays in its field", async (t) => {
  const { page } = await twoExchanges(t);
  const error = { code: "storage_full", message: "full", requestId: "r" };
  await page.route("**/api/chat", (route) => route.fulfill({ status: 507, json: { error } }));
  await edit(page, 0, "First, please?");
  await page.locator("#toast").getByText("The disk is full.").waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Edit message" }).inputValue(), "First, please?");
  assert.deepEqual(await proses(page), ["One.", "Two."]);
  await page.keyboard.press("Escape");
  assert.deepEqual(await bubbles(page), ["First?", "Second?"]);
  assert.equal(await messageBox(page).inputValue(), "");
});

test("another answer to an earlier question is a branch", async (t) => {
  const fixture = await twoExchanges(t);
  const { page } = fixture;
  const first = page.locator(".answer").first();
  await first.hover();
  await first.getByRole("button", { name: "Regenerate" }).click();
  const sent = await reply(fixture, "Better one.");
  assert.doesNotMatch(sent, /One\.|Second/);
  assert.deepEqual(await proses(page), ["Better one."]);
  const versions = lastAnswer(page).getByRole("group", { name: "Version 2 of 2" });
  await versions.getByRole("button", { name: "Previous version" }).click();
  await waitForText(prose(page), "Two.");
  assert.deepEqual(await proses(page), ["One.", "Two."]);
});

test("the switch stays where it is on the screen", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Long?", "line\n\n".repeat(60));
  await exchange(fixture, "Second?", "Two.\n\n".repeat(40));
  await edit(page, 1, "Second, please?");
  await reply(fixture, "Due.");
  await exchange(fixture, "More?", "more\n\n".repeat(60));
  const versions = question(page, 1).locator(".versions");
  await versions.scrollIntoViewIfNeeded();
  const before = (await versions.boundingBox()).y;
  await versions.getByRole("button", { name: "Previous version" }).click();
  await question(page, 1).getByRole("group", { name: "Version 1 of 2" }).waitFor();
  assert.ok(Math.abs((await versions.boundingBox()).y - before) < 3);
});

test("a message is deleted with all after it", async (t) => {
  const fixture = await twoExchanges(t);
  const { page } = fixture;
  await exchange(fixture, "Third?", "Three.");
  const remove = async (at) => {
    await question(page, at).hover();
    await question(page, at).getByRole("button", { name: "Delete from here" }).click();
  };
  await remove(1);
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This message and the 3 messages after it will be deleted permanently.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await bubbles(page), ["First?", "Second?", "Third?"]);
  await remove(1);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.waitFor({ state: "detached" });
  await waitForText(prose(page), "One.");
  assert.deepEqual(await bubbles(page), ["First?"]);
  await page.reload();
  await waitForText(prose(page), "One.");
  assert.deepEqual(await bubbles(page), ["First?"]);
});

test("deleting one version shows the other one", async (t) => {
  const fixture = await twoExchanges(t);
  const { page } = fixture;
  await edit(page, 1, "Second, please?");
  await reply(fixture, "Due.");
  await question(page, 1).getByRole("button", { name: "Delete from here" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This message and the message after it will be deleted permanently. The other versions of this message stay.").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await waitForText(prose(page), "Two.");
  assert.deepEqual(await bubbles(page), ["First?", "Second?"]);
  assert.equal(await page.locator(".versions:visible").count(), 0);
});

test("a long message is folded and can be copied", async (t) => {
  const fixture = await setUp(t, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
  const { page, url } = fixture;
  const text = Array.from({ length: 60 }, (_, n) => `line ${n}`).join("\n");
  await page.goto(url);
  await exchange(fixture, text, "Long.");
  const height = async () => (await page.locator(".bubble").boundingBox()).height;
  assert.ok((await height()) < 400);
  await page.getByRole("button", { name: "Show all" }).click();
  assert.ok((await height()) > 1000);
  await page.getByRole("button", { name: "Show less" }).click();
  assert.ok((await height()) < 400);
  await question(page, 0).getByRole("button", { name: "Copy message" }).click();
  await question(page, 0).getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
});

test("a branch of another tab appears", async (t) => {
  const fixture = await twoExchanges(t);
  const { page, context } = fixture;
  const other = await context.newPage();
  await other.goto(page.url());
  await waitForText(prose(other), "Two.");
  await edit(page, 1, "Second, please?");
  await reply(fixture, "Due.");
  await waitForText(prose(other), "Due.");
  await other.getByRole("button", { name: "Previous version" }).click();
  await waitForText(prose(page), "Two.");
});
