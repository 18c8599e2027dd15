// Questions that may follow an answer, for agents that want them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { exchange, lastAnswer, sendMessage, setUp, waitForText } from "../support/fixture.js";

const group = (page) => page.getByRole("group", { name: "Follow-up questions" });

async function open(t, agent) {
  const fixture = await setUp(t);
  const put = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: "Default", ...agent }) };
  assert.equal((await fetch(`${fixture.url}/api/admin/agents/default`, put)).status, 200);
  await fixture.page.goto(fixture.url);
  return fixture;
}

test("an answer is followed by questions, and a click sends one", async (t) => {
  const fixture = await open(t, { followUps: true });
  const { page, model } = fixture;
  await exchange(fixture, "What is tea?", "A drink from leaves.");
  const request = await model.next();
  const prompt = request.body.messages.at(-1).content;
  assert.ok(prompt.includes("What is tea?") && prompt.includes("A drink from leaves."), prompt);
  request.sendText("Sure, here they are:\n1. 1.5 litres of which leaves?\n- “Is it healthy?”\n\n3) 2026 prices, who knows them?\n4. How hot?");
  request.end();
  await group(page).waitFor();
  assert.deepEqual(await group(page).getByRole("button").allTextContents(), ["1.5 litres of which leaves?", "Is it healthy?", "2026 prices, who knows them?"]);
  assert.notEqual(await group(page).getByRole("button").first().evaluate((button) => getComputedStyle(button).borderColor), "rgba(0, 0, 0, 0)", "it looks like a button");
  await assertAccessible(page);

  await group(page).getByRole("button", { name: "Is it healthy?" }).click();
  const next = await model.next();
  assert.equal(next.body.messages.at(-1).content, "Is it healthy?");
  await group(page).waitFor({ state: "detached" });
  next.sendText("Yes.");
  next.end();
  await waitForText(lastAnswer(page).locator(".prose").last(), "Yes.");
  (await model.next()).fail(500);
  await sendMessage(page, "Fine.");
  assert.equal(await group(page).count(), 0);
});

test("other agents have no questions below answers", async (t) => {
  const fixture = await open(t, {});
  await exchange(fixture, "What is tea?", "A drink from leaves.");
  await sendMessage(fixture.page, "And coffee?");
  assert.equal((await fixture.model.next()).body.messages.at(-1).content, "And coffee?");
});

test("the questions are there when the conversation is opened again", async (t) => {
  const fixture = await open(t, { followUps: true });
  const { page, model } = fixture;
  await exchange(fixture, "What is tea?", "A drink from leaves.");
  const request = await model.next();
  request.sendText("Is it healthy?");
  request.end();
  await group(page).waitFor();
  await page.getByRole("button", { name: "New conversation" }).first().click();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  await page.goBack();
  await group(page).getByRole("button", { name: "Is it healthy?" }).click();
  assert.equal((await model.next()).body.messages.at(-1).content, "Is it healthy?");
});
