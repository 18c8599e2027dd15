// All of the caller's data at once: taken along as a file, or erased.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { sendMessage, exchange, prose, waitForText, setUp } from "../support/fixture.js";

const yours = (page) => page.getByRole("dialog", { name: "Your data" });
const erasing = (page) => page.getByRole("dialog", { name: "Erase everything?" });
const erased = (page) => page.getByRole("dialog", { name: "Everything is erased" });
const word = (page) => erasing(page).getByLabel("Type erase to confirm");

async function choose(page, button) {
  await page.getByRole("button", { name: "Your data" }).click();
  await yours(page).getByRole("button", { name: button }).click();
}

/** Lets nobody in without this key. */
async function locked(page, key) {
  const error = { code: "unauthorized", message: "A valid key is needed.", retryable: false, requestId: "r" };
  await page.route("**/api/**", (route) =>
    route.request().headers()["x-api-key"] === key.value ? route.continue() : route.fulfill({ status: 401, json: { error } }),
  );
}

async function giveKey(page, text) {
  const field = page.getByRole("dialog", { name: "A key is needed" }).getByLabel("Key");
  await field.fill(text);
  await field.press("Enter");
}

test("f150_ an export is saved as a file that holds everything, also with a key", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await locked(page, { value: "k" });
  await page.goto(url);
  await giveKey(page, "k");
  await page.getByText("Your conversations will be listed here.").waitFor();
  await exchange(fixture, "Do you keep this?", "Every word.");
  const saved = page.waitForEvent("download");
  await choose(page, "Export my data");
  const download = await saved;
  assert.equal(download.suggestedFilename(), "lambda-chat.jsonl");
  const text = await readFile(await download.path(), "utf8");
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([lines[0].kind, lines.at(-1).kind], ["export", "end"]);
  const said = lines.filter(({ kind }) => kind === "message").map(({ content }) => content);
  assert.deepEqual(said, ["Do you keep this?", "Every word."]);
  await yours(page).locator("#export-state").getByText(/^Saved [\d.]+ (KB|bytes) as lambda-chat\.jsonl\.$/).waitFor();
  const button = yours(page).getByRole("button", { name: "Export my data" });
  assert.equal(await button.evaluate((node) => node === document.activeElement), true);
});

test("an export that breaks off saves no file and says so, whatever it ends in", async (t) => {
  const { page, url } = await setUp(t);
  const ends = ["", '{"kind":"error","error":{"code":"storage_busy"}}\n', '{"kind":"en'];
  let downloads = 0;
  page.on("download", () => {
    downloads += 1;
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Your data" }).click();
  const take = yours(page).getByRole("button", { name: "Export my data" });
  const state = yours(page).locator("#export-state");
  for (const end of ends) {
    const body = `{"kind":"export"}\n${end}`;
    await page.route("**/api/me/export", (route) => route.fulfill({ contentType: "application/x-ndjson", body }), { times: 1 });
    await take.click();
    await state.getByText("The export broke off before its end, so no file was saved. Please try again.").waitFor();
    assert.equal(await yours(page).getByRole("status").textContent(), await state.textContent());
    await yours(page).getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Your data" }).click();
    assert.equal(await state.textContent(), "");
  }
  const error = { code: "storage_busy", message: "The storage is busy. Please try again.", retryable: true };
  await page.route("**/api/me/export", (route) => route.fulfill({ status: 503, json: { error } }), { times: 1 });
  await take.click();
  await state.getByText("The storage is busy. Please try again.").waitFor();
  assert.equal(downloads, 0);
  const saved = page.waitForEvent("download");
  await take.click();
  await saved;
  await state.getByText(/^Saved /).waitFor();
});

test("closing the dialog gives an export up", async (t) => {
  const { page, url } = await setUp(t);
  let given;
  const asked = new Promise((resolve) => {
    given = resolve;
  });
  await page.route("**/api/me/export", () => given(), { times: 1 });
  await page.goto(url);
  await choose(page, "Export my data");
  await asked;
  await yours(page).locator("#export-state").getByText("Collecting…").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Your data" }).click();
  assert.equal(await yours(page).locator("#export-state").textContent(), "");
  const saved = page.waitForEvent("download");
  await yours(page).getByRole("button", { name: "Export my data" }).click();
  await saved;
});

test("f150_ erasing asks for the word, and leaves the page as a new visitor finds it", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Remember me", "Yes.");
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Half a thou");
  await choose(page, "Erase everything…");
  assert.equal(await erasing(page).getByText(/your keys/).isVisible(), false, "there are none");
  await word(page).fill("everything");
  await word(page).press("Enter");
  await erasing(page).getByText("Please type the word erase.").waitFor();
  await erasing(page).getByRole("button", { name: "Cancel" }).click();
  await waitForText(prose(page), "Yes.");
  assert.equal((await (await fetch(`${url}/api/conversations`)).json()).conversations.length, 1);
  const back = page.getByRole("button", { name: "Your data" });
  assert.equal(await back.evaluate((node) => node === document.activeElement), true);

  await choose(page, "Erase everything…");
  assert.equal(await erasing(page).getByText("Please type").isVisible(), false);
  await word(page).fill("Erase ");
  await word(page).press("Enter");
  await erased(page).getByText(/^Gone for good: 1 conversation/).waitFor();
  await erased(page).getByRole("button", { name: "Begin anew" }).click();
  await page.getByText("Your conversations will be listed here.").waitFor();
  await page.locator("#welcome").waitFor();
  assert.equal(new URL(page.url()).hash, "#/");
  assert.deepEqual(await page.evaluate(() => [...Object.values(localStorage), ...Object.values(sessionStorage)]), []);
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "");
  await page.getByRole("button", { name: "Use dark colours" }).waitFor();
  assert.deepEqual((await (await fetch(`${url}/api/conversations`)).json()).conversations, []);
});

test("erasing ends an answer that is being written, and the lost key is asked for only afterwards", async (t) => {
  const { page, url, model } = await setUp(t);
  const key = { value: "k" };
  await locked(page, key);
  await page.route("**/api/me", async (route) => {
    const response = await route.fetch();
    key.value = "another";
    await route.fulfill({ response });
  });
  await page.goto(url);
  await giveKey(page, "k");
  await page.getByText("Your conversations will be listed here.").waitFor();
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Slowly");
  await waitForText(prose(page), "Slowly");
  await choose(page, "Erase everything…");
  await erasing(page).getByText(/^your keys/).waitFor();
  await word(page).fill("erase");
  await word(page).press("Enter");
  await erasing(page).getByRole("status").getByText("Erasing…").waitFor();
  await reply.closed;
  await erased(page).waitFor();
  const asked = page.getByRole("dialog", { name: "A key is needed" });
  assert.equal(await asked.isVisible(), false);
  await page.keyboard.press("Escape");
  await asked.waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
});

test("an erasure that fails says why, and can be tried again", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Remember me", "Yes.");
  const error = { code: "storage_busy", message: "The storage is busy. Please try again.", retryable: true };
  await page.route("**/api/me", (route) => route.fulfill({ status: 503, json: { error } }), { times: 1 });
  await choose(page, "Erase everything…");
  await word(page).fill("erase");
  await word(page).press("Enter");
  await erasing(page).getByText("The storage is busy. Please try again.").waitFor();
  assert.equal(await word(page).inputValue(), "erase");
  await word(page).press("Enter");
  await erased(page).waitFor();
});

for (const colorScheme of ["light", "dark"]) {
  test(`on the smallest screen both dialogs fit, in ${colorScheme}`, async (t) => {
    const small = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true, colorScheme };
    const { page, url } = await setUp(t, { context: small });
    await page.goto(url);
    await page.getByRole("button", { name: "List of conversations" }).click();
    await page.getByRole("button", { name: "Your data" }).click();
    await fits(yours(page));
    await yours(page).getByRole("button", { name: "Erase everything…" }).click();
    await fits(erasing(page));
  });
}

/** Holds a dialog, and what can be used in it, against the screen: nothing is cut off or too small to be hit. */
async function fits(dialog) {
  await dialog.waitFor();
  const found = await dialog.evaluate((node) => ({
    sideways: node.scrollWidth - node.clientWidth,
    parts: [node, ...node.querySelectorAll("button, input")].map((part) => {
      const { left, right, height } = part.getBoundingClientRect();
      return { left, right, height };
    }),
  }));
  assert.equal(found.sideways, 0);
  for (const { left, right, height } of found.parts) {
    assert.ok(left >= 0 && right <= 320 && height >= 40, JSON.stringify(found.parts));
  }
}
