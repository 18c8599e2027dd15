// Regenerated, retried and stopped answers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

test("f020_ a broken reply keeps text and retries", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const broken = await model.next();
  broken.sendText("Half an ans");
  await waitForText(prose(page), "Half an ans");
  broken.disconnect();
  await lastAnswer(page).locator(".note.failed").getByText("The connection to the model was lost.").waitFor();
  await waitForText(prose(page), "Half an ans");
  await lastAnswer(page).getByRole("button", { name: "Try again" }).click();
  const whole = await model.next();
  whole.sendText("A whole answer.");
  whole.end();
  await waitForText(prose(page), "A whole answer.");
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["Tell me."]);
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);

  await page.reload();
  await waitForText(prose(page), "A whole answer.");
  assert.equal(await page.locator(".turn").count(), 2);
});

test("a new answer is shown instead of the last one", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "First?", "One.");
  await exchange(fixture, "Second?", "Two.");
  await lastAnswer(page).getByRole("button", { name: "Regenerate" }).click();
  const reply = await model.next();
  assert.doesNotMatch(JSON.stringify(reply.body.messages), /Two\./);
  reply.sendText("Better.");
  reply.end();
  await waitForText(prose(page), "Better.");
  await page.reload();
  await waitForText(prose(page), "Better.");
  assert.deepEqual(await page.locator(".prose").allTextContents(), ["One.", "Better."]);
  assert.deepEqual(await page.locator(".bubble").allTextContents(), ["First?", "Second?"]);
});

test("a failed regeneration restores the previous answer", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "Tell me.", "This.");
  await page.getByRole("button", { name: "Regenerate" }).click();
  (await model.next()).fail(401);
  await page.locator("#toast").filter({ hasText: /\w/ }).waitFor();
  await waitForText(prose(page), "This.");
  await page.getByRole("button", { name: "Regenerate" }).click();
  const broken = await model.next();
  broken.sendText("Half an ans");
  await waitForText(prose(page), "Half an ans");
  broken.disconnect();
  await page.locator("#toast").getByText("The connection to the model was lost.").waitFor();
  await waitForText(prose(page), "This.");
  await page.route("**/regenerate", (route) => route.abort());
  await page.getByRole("button", { name: "Regenerate" }).click();
  await page.locator("#toast").getByText("The server can’t be reached.").waitFor();
  await waitForText(prose(page), "This.");
});

test("Escape stops the answer and keeps its text", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Tell me a long story.");
  const reply = await model.next();
  reply.sendText("Once upon a time");
  await waitForText(prose(page), "Once upon a time");
  await page.keyboard.press("Escape");
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await reply.closed;
  await page.reload();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await waitForText(prose(page), "Once upon a time");
});
