// What users think of answers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, prose, setUp, waitForText } from "../support/fixture.js";

const thumb = (page, name) => lastAnswer(page).getByRole("button", { name });
const pressed = (page) => lastAnswer(page).locator("[aria-pressed=true]").evaluateAll((nodes) => nodes.map((node) => node.getAttribute("aria-label")));

async function answered(t) {
  const fixture = await setUp(t);
  await fixture.page.goto(fixture.url);
  await exchange(fixture, "Hello?", "Yes.");
  return fixture;
}

/** Waits for the response to a request about feedback. */
const stored = (page) => page.waitForResponse((response) => response.url().endsWith("/feedback") && response.status() === 204);

test("a rating is kept and can be withdrawn", async (t) => {
  const { page } = await answered(t);
  const [, response] = await Promise.all([thumb(page, "Good answer").click(), stored(page)]);
  assert.deepEqual(response.request().postDataJSON(), { rating: "up" });
  assert.deepEqual(await pressed(page), ["Good answer"]);
  await page.reload();
  await waitForText(prose(page), "Yes.");
  assert.deepEqual(await pressed(page), ["Good answer"]);
  const [, withdrawn] = await Promise.all([thumb(page, "Good answer").click(), stored(page)]);
  assert.equal(withdrawn.request().method(), "DELETE");
  await page.reload();
  await waitForText(prose(page), "Yes.");
  assert.deepEqual(await pressed(page), []);
});

test("a bad rating takes a reason", async (t) => {
  const { page, url } = await answered(t);
  await thumb(page, "Bad answer").click();
  const reason = page.getByRole("dialog").getByRole("textbox", { name: "What was wrong?" });
  await reason.fill("It is too short.");
  await Promise.all([reason.press("Enter"), stored(page)]);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.reload();
  await waitForText(prose(page), "Yes.");
  assert.deepEqual(await pressed(page), ["Bad answer"]);
  const { messages } = await (await fetch(`${url}/api/conversations/${page.url().split("/").at(-1)}`)).json();
  assert.deepEqual(messages.at(-1).feedback, { rating: "down", reason: "It is too short." });
});

test("a bad rating needs no reason", async (t) => {
  const { page } = await answered(t);
  await thumb(page, "Bad answer").click();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.reload();
  await waitForText(prose(page), "Yes.");
  assert.deepEqual(await pressed(page), ["Bad answer"]);
});

test("a rating that is not stored is not shown", async (t) => {
  const { page } = await answered(t);
  await page.route("**/feedback", (route) => route.abort());
  await thumb(page, "Good answer").click();
  await page.locator("#toast").getByText("The server can’t be reached.").waitFor();
  assert.deepEqual(await pressed(page), []);
});
