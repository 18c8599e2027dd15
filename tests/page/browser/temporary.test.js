// Temporary conversations: their mark, and that they are in no list.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { exchange, prose, setUp, waitForText } from "../support/fixture.js";
import { list, titles } from "../support/library.js";

const toggle = (page) => page.getByRole("button", { name: "Temporary conversation", exact: true });
const note = (page) => page.getByText("Not in your list or search, and deleted within 24 hours.");

test("a temporary conversation is marked and in no list", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  assert.equal(await note(page).isVisible(), false);
  await toggle(page).click();
  assert.equal(await toggle(page).getAttribute("aria-pressed"), "true");
  await note(page).waitFor();
  await assertAccessible(page);
  await exchange(fixture, "A secret", "Kept.");
  await waitForText(page.getByRole("heading", { level: 1 }), "Temporary conversation");
  await exchange(fixture, "And another", "Kept too.");
  assert.deepEqual(await titles(page), []);
  assert.equal(await page.getByRole("button", { name: "Conversation actions" }).isVisible(), false);
  await page.reload();
  await waitForText(prose(page), "Kept too.");
  await note(page).waitFor();
  await list(page).getByText("Your conversations will appear here.").waitFor();
  await page.getByRole("button", { name: "Delete now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  assert.equal(await note(page).isVisible(), false);
});

test("the next conversation is not temporary", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await page.keyboard.press("Control+k");
  const box = page.getByRole("dialog", { name: "Search and commands" }).getByRole("combobox");
  await box.fill("temporary");
  await box.press("Enter");
  await note(page).waitFor();
  await exchange(fixture, "A secret", "Kept.");
  await page.getByRole("button", { name: "New conversation" }).click();
  await note(page).waitFor({ state: "hidden" });
  await exchange(fixture, "In the open", "Yes.");
  await list(page).getByRole("link", { name: "In the open" }).waitFor();
  assert.deepEqual(await titles(page), ["In the open"]);
});

test("the administration leaves a temporary conversation as it is", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await toggle(page).click();
  await page.getByRole("textbox", { name: "Message" }).fill("A secret");
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Open administration" }).click();
  await page.locator("#admin").getByRole("link", { name: "Close" }).click();
  await note(page).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Message" }).inputValue(), "A secret");
  await exchange(fixture, "A secret", "Kept.");
  assert.deepEqual(await titles(page), []);
});
