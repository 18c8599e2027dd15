// How much the model searches, chosen in the composer.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { exchange, lastAnswer, setUp } from "../support/fixture.js";

const choose = async (page, now, next) => {
  await page.getByRole("button", { name: `Search: ${now}` }).click();
  await page.getByRole("listbox", { name: "Search" }).getByRole("option", { name: next }).click();
};

test("the search is chosen in the composer, until the page is opened again", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  const sent = [];
  page.on("request", (request) => /chat$|regenerate$/.test(request.url()) && sent.push(request.postDataJSON().search));
  await exchange(fixture, "First?", "One.");
  await page.getByRole("button", { name: "Search: When needed" }).click();
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await choose(page, "When needed", "In depth");
  await lastAnswer(page).getByRole("button", { name: "Regenerate" }).click();
  const again = await model.next();
  assert.match(JSON.stringify(again.body), /Research this question in depth/);
  again.sendText("Two.");
  again.end();
  await lastAnswer(page).locator(".answer-footer").waitFor();
  await choose(page, "In depth", "Off");
  await exchange(fixture, "Third?", "Three.");
  assert.deepEqual(sent, [undefined, "deep", "off"]);
  await page.reload();
  await page.getByRole("button", { name: "Search: When needed" }).waitFor();
});

test("an agent without a search offers none", async (t) => {
  const { page, url } = await setUp(t);
  const agents = ["default", "other"].map((id, n) => ({ id, name: id, description: "", default: n === 0, ...(n === 1 && { searches: false }) }));
  await page.route("**/api/agents", (route) => route.fulfill({ json: { agents } }));
  await page.goto(url);
  await page.getByRole("button", { name: "Model and agent: default" }).click();
  assert.equal(await page.getByRole("listbox", { name: "Search" }).count(), 1);
  await page.getByRole("option", { name: "other" }).click();
  await page.getByRole("button", { name: "Model and agent: other" }).click();
  assert.equal(await page.getByRole("listbox", { name: "Search" }).count(), 0);
});
