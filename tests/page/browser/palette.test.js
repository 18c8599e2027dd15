// The palette: conversations and commands by keyboard, and the list of shortcuts.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { lastAnswer, messageBox, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";
import { converse } from "../support/library.js";

const palette = (page) => page.getByRole("dialog", { name: "Search and commands" });
const selected = (page) => palette(page).locator('[aria-selected="true"]');

async function open(page) {
  await page.keyboard.press("Control+k");
  await palette(page).getByRole("combobox").waitFor();
}

test("the palette finds a conversation by what is in it", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["Tea?", "Steep it at 70 degrees."], ["Heat?", "A pump."]]);
  await page.goto(url);
  await page.getByRole("link", { name: "Tea?" }).waitFor();
  await open(page);
  await palette(page).getByRole("group", { name: "Recent conversations" }).getByRole("option", { name: "Heat?" }).waitFor();
  await page.keyboard.type("degrees");
  await palette(page).getByRole("option", { name: /^Tea\?.*degrees/ }).waitFor();
  await palette(page).getByRole("status").getByText("1 result").waitFor({ state: "attached" });
  await page.keyboard.press("Enter");
  await palette(page).waitFor({ state: "detached" });
  await waitForText(prose(page), "Steep it at 70 degrees.");
});

test("the arrow keys choose a command", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await messageBox(page).fill("A draft");
  await open(page);
  await page.keyboard.type("theme");
  await waitForText(selected(page), "Theme: system");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await waitForText(selected(page), "Theme: dark");
  const box = palette(page).getByRole("combobox");
  assert.equal(await box.getAttribute("aria-activedescendant"), await selected(page).getAttribute("id"));
  await page.keyboard.press("ArrowDown");
  await waitForText(selected(page), "Theme: system");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await open(page);
  await page.keyboard.type("settings");
  await waitForText(selected(page), "Settings");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Settings" }).waitFor();
  await page.keyboard.press("Escape");
  await open(page);
  await page.keyboard.type("zzz");
  await palette(page).getByText("Nothing found.").waitFor();
  assert.equal(await box.getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "detached" });
  assert.equal(await messageBox(page).inputValue(), "A draft");
});

test("the palette has what can be done with the open conversation", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  const [id] = await converse(fixture, [["Tea?", "Yes."]]);
  await page.goto(`${url}/#/c/${id}`);
  await prose(page).waitFor();
  await open(page);
  const group = palette(page).getByRole("group", { name: "This conversation: Tea?" });
  assert.deepEqual(await group.getByRole("option").allTextContents(), ["Rename", "Pin", "Share…", "Export…", "Archive", "Delete"]);
  await group.getByRole("option", { name: "Rename" }).click();
  await page.getByRole("dialog", { name: "Rename conversation" }).waitFor();
});

test("without the server the palette has what it knows", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["Tea?", "Yes."]]);
  await page.goto(url);
  await page.getByRole("link", { name: "Tea?" }).waitFor();
  await open(page);
  await page.route("**/api/conversations?*", (route) => route.abort());
  await page.keyboard.type("tea");
  await palette(page).getByRole("option", { name: "Tea?" }).waitFor();
});

test("the shortcuts are listed, and typing a question mark is not one", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await messageBox(page).focus();
  await page.keyboard.type("Why?");
  assert.equal(await messageBox(page).inputValue(), "Why?");
  await page.getByRole("main").click();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.getByText("Ctrl").first().waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await page.goto(`${url}/#/c/01ABSENT`);
  await page.keyboard.press("Control+Shift+O");
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
});

test("what is typed while the palette is loaded is its query", async (t) => {
  const { page, url } = await setUp(t);
  let load;
  const loads = new Promise((resolve) => (load = resolve));
  await page.route("**/assets/library-*", (route) => loads.then(() => route.fallback()));
  await page.goto(url);
  await messageBox(page).fill("A draft");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("theme");
  load();
  await waitForText(selected(page), "Theme: system");
  assert.equal(await palette(page).getByRole("combobox").inputValue(), "theme");
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "detached" });
  assert.equal(await messageBox(page).inputValue(), "A draft");
  assert.equal(await messageBox(page).evaluate((box) => box === document.activeElement), true);
});

test("an outdated page reports that its palette is missing", async (t) => {
  const { page, url } = await setUp(t);
  await page.route("**/assets/library-*", (route) => route.fulfill({ status: 404, body: "{}" }));
  await page.goto(url);
  await page.keyboard.press("Control+k");
  await page.locator("#toast").getByText("This page is out of date. Please reload it.").waitFor();
});

/** Opens the palette while an answer is written and before the part is loaded, which `load` permits. */
async function openEarly(fixture) {
  const { page, url, model } = fixture;
  let load;
  const loads = new Promise((resolve) => (load = resolve));
  await page.route("**/assets/library-*", (route) => loads.then(() => route.fallback()));
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once");
  await waitForText(prose(page), "Once");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("the");
  return { reply, load };
}

test("an answer that ends leaves the focus to what is typed for the palette", async (t) => {
  const fixture = await setUp(t);
  const { page } = fixture;
  const { reply, load } = await openEarly(fixture);
  reply.end();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await page.keyboard.type("me");
  load();
  await waitForText(selected(page), "Theme: system");
  assert.equal(await messageBox(page).inputValue(), "");
});

test("Escape cancels a palette that is loaded and stops no answer", async (t) => {
  const fixture = await setUp(t);
  const { page } = fixture;
  const { reply, load } = await openEarly(fixture);
  await page.keyboard.press("Escape");
  assert.equal(await messageBox(page).evaluate((box) => box === document.activeElement), true);
  reply.sendText(" upon a time.");
  reply.end();
  await waitForText(prose(page), "Once upon a time.");
  await page.getByRole("button", { name: "Send" }).waitFor();
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("settings");
  load();
  await waitForText(selected(page), "Settings");
  assert.equal(await palette(page).getByRole("combobox").inputValue(), "settings");
});

test("a palette that is loaded leaves the focus where the reader moved it", async (t) => {
  const fixture = await setUp(t);
  const { page } = fixture;
  const { load } = await openEarly(fixture);
  const search = page.getByRole("searchbox");
  await search.focus();
  load();
  await palette(page).waitFor();
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "detached" });
  assert.equal(await search.evaluate((box) => box === document.activeElement), true);
});

test("what a search found is plain text", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["Tea?", "## Heat\n\n**Water** at 70 [degrees or so](https://site.example/a) for `green` tea.\n\n| a | b |\n|---|---|\n| 2 * 3 | x |"]]);
  await page.goto(url);
  await page.getByRole("link", { name: "Tea?" }).waitFor();
  const plain = "Heat Water at 70 degrees or so for green tea. a b 2 * 3 x";
  const read = async (found) => [(await found.textContent()).replaceAll(/\s+/g, " ").trim(), await found.locator("mark").textContent()];
  await page.getByRole("searchbox").fill("degrees");
  const match = page.locator(".matches a");
  await match.waitFor();
  assert.deepEqual(await read(match), [plain, "degrees"]);
  await open(page);
  await page.keyboard.type("degrees");
  const detail = palette(page).locator("small");
  await detail.waitFor();
  assert.deepEqual(await read(detail), [plain, "degrees"]);
});
