// The settings dialog: language, theme, defaults, key and usage.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, assertFits, SCREENS } from "../support/axe.js";
import { exchange, sendMessage, setUp } from "../support/fixture.js";

const dialog = (page) => page.getByRole("dialog", { name: "Settings" });

async function openSettings(page) {
  await page.getByRole("button", { name: "Settings" }).click();
  await dialog(page).waitFor();
}

const TWO_MODELS = {
  MODELS: JSON.stringify([
    { name: "second", model: "other-model", baseUrl: "http://127.0.0.1:1/v1" },
  ]),
};

test("the language changes and lasts", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await openSettings(page);
  await dialog(page).getByLabel("Language").selectOption("简体中文");
  await page.getByRole("button", { name: "设置" }).click();
  await page.getByRole("dialog", { name: "设置" }).getByLabel("语言").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  await page.reload();
  await page.getByRole("button", { name: "设置" }).waitFor();
});

test("the theme changes, and follows the device again", async (t) => {
  const { page, url } = await setUp(t, { context: { colorScheme: "light" } });
  await page.goto(url);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await openSettings(page);
  await dialog(page).getByLabel("Theme").selectOption("Dark");
  assert.equal(await theme(), "dark");
  await page.reload();
  assert.equal(await theme(), "dark");
  await openSettings(page);
  assert.equal(await dialog(page).getByLabel("Theme").inputValue(), "dark");
  await dialog(page).getByLabel("Theme").selectOption("System");
  assert.equal(await theme(), "light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
});

test("instructions are kept on the server and read by the model", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await openSettings(page);
  const box = dialog(page).getByRole("textbox", { name: "Custom instructions" });
  const save = dialog(page).getByRole("button", { name: "Save" });
  await box.fill("Answer in one sentence.");
  await dialog(page).getByText("23 / 4,000").waitFor();
  await save.click();
  await dialog(page).getByRole("status").getByText("Saved", { exact: true }).waitFor();
  assert.equal(await save.isDisabled(), true);
  await box.fill("Be brief.");
  const stored = page.waitForResponse((response) => response.request().method() === "PUT");
  await dialog(page).getByRole("button", { name: "Close" }).click();
  assert.equal((await stored).status(), 204, "what was typed is not lost");
  await sendMessage(page, "Tea?");
  const reply = await model.next();
  assert.match(reply.body.messages[0].content, /Be brief\./);
  reply.end();
  await page.reload();
  await openSettings(page);
  await dialog(page).getByText("9 / 4,000").waitFor();
  await page.route("**/api/me/instructions", (route) => route.fulfill({ status: 500, json: { error: { code: "internal", message: "m" } } }));
  await box.fill("");
  await save.click();
  await dialog(page).locator("section[aria-labelledby=settings-instructions]").getByRole("alert").getByText(/./).waitFor();
  assert.equal(await save.isDisabled(), false);
});

test("an answer that ends unseen is notified if the user wants it", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.addInitScript(() => {
    window.permission = "denied";
    window.notifications = [];
    window.Notification = class {
      static requestPermission = async () => window.permission;
      constructor(title, options) {
        Object.assign(this, { title, ...options });
        window.notifications.push(this);
      }
      close() {}
    };
    Object.defineProperty(Document.prototype, "hidden", { get: () => window.isHidden ?? false });
  });
  await page.goto(url);
  const shown = () => page.evaluate(() => window.notifications.map(({ title, body }) => [title, body]));
  const box = dialog(page).getByLabel("Notify me when an answer finishes while I’m away");
  await openSettings(page);
  assert.equal(await box.isChecked(), false);
  await box.click();
  await dialog(page).getByText("Your browser blocks notifications from this page. Allow them in its settings and try again.").waitFor();
  assert.equal(await box.isChecked(), false);
  await page.evaluate(() => (window.permission = "granted"));
  await box.click();
  await page.waitForFunction(() => window.notifications.length === 1);
  await dialog(page).getByRole("button", { name: "Close" }).click();
  await exchange(fixture, "Seen", "Yes.");
  await page.evaluate(() => (window.isHidden = true));
  await exchange(fixture, "Unseen", "Yes.");
  await page.waitForFunction(() => window.notifications.length === 2);
  assert.deepEqual(await shown(), [["You’ll be notified like this.", undefined], ["Seen", "The answer has finished."]]);
  await page.evaluate(() => (location.hash = "#/"));
  await page.evaluate(() => window.notifications[1].onclick());
  assert.match(new URL(page.url()).hash, /^#\/c\/\w+$/);
});

test("a default model is used for new conversations", async (t) => {
  const { page, url } = await setUp(t, { settings: TWO_MODELS });
  await page.goto(url);
  await page.getByRole("button", { name: /^Model and agent/ }).waitFor();
  await openSettings(page);
  await dialog(page).getByLabel("Model").selectOption("second");
  await dialog(page).getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: /second/ }).waitFor();
  const sent = page.waitForRequest((request) => request.url().endsWith("/api/chat"));
  await sendMessage(page, "Hello");
  assert.equal((await sent).postDataJSON().modelType, "second");
});

test("a default model and a theme hold in other tabs", async (t) => {
  const { page, context, url } = await setUp(t, { settings: TWO_MODELS });
  const other = await context.newPage();
  for (const tab of [page, other]) await tab.goto(url);
  const choice = (tab, name) => tab.getByRole("button", { name: `Model and agent: ${name}` });
  await choice(page, "test-model").waitFor();
  await choice(other, "test-model").click();
  await other.getByRole("option", { name: "second" }).click();
  await choice(page, "second").waitFor();
  await openSettings(page);
  await openSettings(other);
  await dialog(other).getByLabel("Theme").selectOption("dark");
  await page.waitForFunction(() => document.querySelector("#settings-theme").value === "dark");
});

test("a kept key is shared with other tabs until it is forgotten", async (t) => {
  const { page, context, url } = await setUp(t);
  await context.route("**/api/**", (route) => {
    if (route.request().headers()["x-api-key"] === "k") return route.continue();
    const error = { code: "unauthorized", message: "A valid access key is required.", retryable: false };
    return route.fulfill({ status: 401, json: { error } });
  });
  await page.goto(url);
  const prompt = page.getByRole("dialog", { name: "Enter your access key" });
  await assertAccessible(page, "#key-dialog");
  await prompt.getByLabel("Key", { exact: true }).fill("k");
  await prompt.getByLabel("Keep me signed in on this device").check();
  await prompt.getByRole("button", { name: "Use key" }).click();
  await page.getByText("Your conversations will appear here.").waitFor();
  assert.equal(await page.evaluate(() => localStorage.getItem("key")), "k");

  const other = await context.newPage();
  await other.goto(url);
  await other.getByText("Your conversations will appear here.").waitFor();
  await openSettings(other);
  await dialog(other).getByText("Your key is kept on this device.").waitFor();
  await dialog(other).getByText("Signed in as local (administrator).").waitFor();
  await dialog(other).getByLabel("Keep me signed in on this device").uncheck();
  await dialog(other).getByText("Your key is kept until you close this tab.").waitFor();
  assert.equal(await other.evaluate(() => localStorage.getItem("key")), null);
  assert.equal(await other.evaluate(() => sessionStorage.getItem("key")), "k");
  await dialog(other).getByRole("button", { name: "Forget key" }).click();
  await other.getByRole("dialog", { name: "Enter your access key" }).waitFor();
  assert.deepEqual(await other.evaluate(() => Object.values(sessionStorage)), []);
});

test("usage shows sums and what is left of budgets", async (t) => {
  const fixture = await setUp(t, { settings: { USER_DAILY_TOKENS: "1000000", USER_DAILY_SEARCHES: "50" } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Count this", "Counted.");
  const report = await (await fetch(`${url}/api/usage`)).json();
  await openSettings(page);
  const tokens = dialog(page).getByRole("meter", { name: "Tokens today" });
  await tokens.waitFor();
  const used = report.budgets.tokens.used;
  assert.equal(await tokens.evaluate((node) => node.value), used);
  assert.ok(used > 0);
  const left = new Intl.NumberFormat("en").format(1_000_000 - used);
  await dialog(page).getByText(`${left} of 1,000,000 left`).waitFor();
  await dialog(page).getByText("50 of 50 left").waitFor();
  const row = dialog(page).getByRole("row", { name: /^Answers/ });
  assert.deepEqual(await row.getByRole("cell").allTextContents(), ["1", "1"]);
});

test("a failed usage request is explained", async (t) => {
  const { page, url } = await setUp(t);
  const error = { code: "storage_busy", message: "busy", retryable: true };
  await page.route("**/api/usage*", (route) => route.fulfill({ status: 503, json: { error } }));
  await page.goto(url);
  await openSettings(page);
  await dialog(page).getByText("Usage can’t be shown. The database is busy.").waitFor();
});

for (const { name, options } of SCREENS) {
  test(`settings are accessible and fit on a ${name}`, async (t) => {
    const settings = { ...TWO_MODELS, USER_DAILY_TOKENS: "1000000" };
    const { page, url } = await setUp(t, { context: options, settings });
    await page.goto(url);
    const chinese = options.locale === "zh-CN";
    if (options.isMobile) await page.getByRole("button", { name: "对话列表" }).click();
    await page.getByRole("button", { name: chinese ? "设置" : "Settings" }).click();
    const open = page.getByRole("dialog", { name: chinese ? "设置" : "Settings" });
    await open.getByRole("meter").waitFor();
    await assertAccessible(page, "#settings-dialog");
    await assertFits(open);
    await page.keyboard.press("Escape");
    await open.waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.id), options.isMobile ? "toggle-list" : "open-settings");
    assert.equal(await page.locator("#page").getAttribute("data-list"), options.isMobile ? "closed" : "open");
  });
}
