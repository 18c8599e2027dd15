// The caller's own data: export as a file, and erasure.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { sendMessage, exchange, prose, waitForText, setUp } from "../support/fixture.js";

const privacyDialog = (page) => page.getByRole("dialog", { name: "Settings" });
const eraseDialog = (page) => page.getByRole("dialog", { name: "Erase everything?" });
const erasedDialog = (page) => page.getByRole("dialog", { name: "Everything has been erased" });
const confirmation = (page) => eraseDialog(page).getByLabel("Type “erase” to confirm");

async function openPrivacy(page, button) {
  await page.getByRole("button", { name: "Settings" }).click();
  await privacyDialog(page).getByRole("button", { name: button }).click();
}

/** Rejects all requests without this key. */
async function requireKey(page, key) {
  const error = { code: "unauthorized", message: "A valid access key is required.", retryable: false, requestId: "r" };
  await page.route("**/api/**", (route) =>
    route.request().headers()["x-api-key"] === key.value ? route.continue() : route.fulfill({ status: 401, json: { error } }),
  );
}

async function submitKey(page, text) {
  const field = page.getByRole("dialog", { name: "Enter your access key" }).getByLabel("Key");
  await field.fill(text);
  await field.press("Enter");
}

test("f150_ an export saves all data with a key", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await requireKey(page, { value: "k" });
  await page.goto(url);
  await submitKey(page, "k");
  await page.getByText("Your conversations will appear here.").waitFor();
  await exchange(fixture, "Do you keep this?", "Every word.");
  const saved = page.waitForEvent("download");
  await openPrivacy(page, "Export my data");
  const download = await saved;
  assert.equal(download.suggestedFilename(), "lambda-chat.jsonl");
  const text = await readFile(await download.path(), "utf8");
  const lines = text.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual([lines[0].kind, lines.at(-1).kind], ["export", "end"]);
  const contents = lines.filter(({ kind }) => kind === "message").map(({ content }) => content);
  assert.deepEqual(contents, ["Do you keep this?", "Every word."]);
  await privacyDialog(page).locator("#export-state").getByText(/^Saved [\d.]+ (kB|bytes) as lambda-chat\.jsonl\.$/).waitFor();
  const button = privacyDialog(page).getByRole("button", { name: "Export my data" });
  assert.equal(await button.evaluate((node) => node === document.activeElement), true);
});

test("an incomplete export saves no file", async (t) => {
  const { page, url } = await setUp(t);
  const endings = ["", '{"kind":"error","error":{"code":"storage_busy"}}\n', '{"kind":"en'];
  let downloads = 0;
  page.on("download", () => {
    downloads += 1;
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Settings" }).click();
  const exportButton = privacyDialog(page).getByRole("button", { name: "Export my data" });
  const state = privacyDialog(page).locator("#export-state");
  for (const end of endings) {
    const body = `{"kind":"export"}\n${end}`;
    await page.route("**/api/me/export", (route) => route.fulfill({ contentType: "application/x-ndjson", body }), { times: 1 });
    await exportButton.click();
    await state.getByText("The export was cut off, so no file was saved. Please try again.").waitFor();
    await privacyDialog(page).getByRole("status").filter({ hasText: await state.textContent() }).waitFor({ state: "attached" });
    await privacyDialog(page).getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Settings" }).click();
    assert.equal(await state.textContent(), "");
  }
  const error = { code: "storage_busy", message: "The storage is busy. Please try again.", retryable: true };
  await page.route("**/api/me/export", (route) => route.fulfill({ status: 503, json: { error } }), { times: 1 });
  await exportButton.click();
  await state.getByText("The database is busy.").waitFor();
  assert.equal(downloads, 0);
  const saved = page.waitForEvent("download");
  await exportButton.click();
  await saved;
  await state.getByText(/^Saved /).waitFor();
});

test("closing the dialog aborts the export", async (t) => {
  const { page, url } = await setUp(t);
  let onRequest;
  const requested = new Promise((resolve) => {
    onRequest = resolve;
  });
  await page.route("**/api/me/export", () => onRequest(), { times: 1 });
  await page.goto(url);
  await openPrivacy(page, "Export my data");
  await requested;
  await privacyDialog(page).locator("#export-state").getByText("Collecting…").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Settings" }).click();
  assert.equal(await privacyDialog(page).locator("#export-state").textContent(), "");
  const saved = page.waitForEvent("download");
  await privacyDialog(page).getByRole("button", { name: "Export my data" }).click();
  await saved;
});

test("f150_ erasing requires confirmation and resets the page", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Remember me", "Yes.");
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Half a thou");
  await openPrivacy(page, "Erase everything…");
  assert.equal(await eraseDialog(page).getByText(/your keys/).isVisible(), false, "there are none");
  await confirmation(page).fill("everything");
  await confirmation(page).press("Enter");
  await eraseDialog(page).getByText("Please type “erase”.").waitFor();
  await eraseDialog(page).getByRole("button", { name: "Cancel" }).click();
  await waitForText(prose(page), "Yes.");
  assert.equal((await (await fetch(`${url}/api/conversations`)).json()).conversations.length, 1);
  const back = page.getByRole("button", { name: "Settings" });
  assert.equal(await back.evaluate((node) => node === document.activeElement), true);

  await openPrivacy(page, "Erase everything…");
  assert.equal(await eraseDialog(page).getByText("Please type").isVisible(), false);
  await confirmation(page).fill("Erase ");
  await confirmation(page).press("Enter");
  await erasedDialog(page).getByText(/^Deleted: 1 conversation/).waitFor();
  await erasedDialog(page).getByRole("button", { name: "Start over" }).click();
  await page.getByText("Your conversations will appear here.").waitFor();
  await page.locator("#welcome").waitFor();
  assert.equal(new URL(page.url()).hash, "#/");
  assert.deepEqual(await page.evaluate(() => [...Object.values(localStorage), ...Object.values(sessionStorage)]), []);
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "");
  await page.getByRole("button", { name: "Use dark colours" }).waitFor();
  assert.deepEqual((await (await fetch(`${url}/api/conversations`)).json()).conversations, []);
});

test("erasing stops the running answer before key prompts", async (t) => {
  const { page, url, model } = await setUp(t);
  const key = { value: "k" };
  await requireKey(page, key);
  await page.route("**/api/me", async (route) => {
    if (route.request().method() !== "DELETE") return route.fallback();
    const response = await route.fetch();
    key.value = "another";
    await route.fulfill({ response });
  });
  await page.goto(url);
  await submitKey(page, "k");
  await page.getByText("Your conversations will appear here.").waitFor();
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  reply.sendText("Slowly");
  await waitForText(prose(page), "Slowly");
  await openPrivacy(page, "Erase everything…");
  await eraseDialog(page).getByText(/^your keys/).waitFor();
  await confirmation(page).fill("erase");
  await confirmation(page).press("Enter");
  await eraseDialog(page).getByRole("status").getByText("Erasing…").waitFor();
  await reply.closed;
  await erasedDialog(page).waitFor();
  const keyDialog = page.getByRole("dialog", { name: "Enter your access key" });
  assert.equal(await keyDialog.isVisible(), false);
  await page.keyboard.press("Escape");
  await keyDialog.waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
});

test("a failed erasure shows an error and retries", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Remember me", "Yes.");
  const error = { code: "storage_busy", message: "The storage is busy. Please try again.", retryable: true };
  let failures = 1;
  await page.route("**/api/me", (route) => {
    if (route.request().method() !== "DELETE" || failures === 0) return route.fallback();
    failures -= 1;
    return route.fulfill({ status: 503, json: { error } });
  });
  await openPrivacy(page, "Erase everything…");
  await confirmation(page).fill("erase");
  await confirmation(page).press("Enter");
  await eraseDialog(page).getByText("The database is busy.").waitFor();
  assert.equal(await confirmation(page).inputValue(), "erase");
  await confirmation(page).press("Enter");
  await erasedDialog(page).waitFor();
});

for (const colorScheme of ["light", "dark"]) {
  test(`dialogs fit the smallest screen in ${colorScheme}`, async (t) => {
    const small = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true, colorScheme };
    const { page, url } = await setUp(t, { context: small });
    await page.goto(url);
    await page.getByRole("button", { name: "List of conversations" }).click();
    await page.getByRole("button", { name: "Settings" }).click();
    await fits(privacyDialog(page));
    await privacyDialog(page).getByRole("button", { name: "Erase everything…" }).click();
    await fits(eraseDialog(page));
  });
}

/** Asserts that a dialog and its controls are within the screen and large enough for touch. */
async function fits(dialog) {
  await dialog.waitFor();
  const found = await dialog.evaluate((node) => ({
    sideways: node.scrollWidth - node.clientWidth,
    parts: [node, ...node.querySelectorAll("button, select, input")].filter((part) => part.checkVisibility()).map((part) => {
      const { left, right, height } = part.getBoundingClientRect();
      return { left, right, height };
    }),
  }));
  assert.equal(found.sideways, 0);
  for (const { left, right, height } of found.parts) {
    assert.ok(left >= 0 && right <= 320 && height >= 40, JSON.stringify(found.parts));
  }
}
