// Answers that ended early and continue: the same message grows.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lastAnswer, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

const continueButton = (page) => lastAnswer(page).getByRole("button", { name: "Continue" });

/** An answer that reached the limit of the model. */
async function cutAnswer(t) {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once upon");
  reply.end("length");
  await lastAnswer(page).getByText("The model reached its output limit").waitFor();
  return fixture;
}

async function assertWhole(page, text) {
  await waitForText(prose(page), text);
  assert.equal(await page.locator(".answer").count(), 1);
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
}

test("a cut answer goes on in its place", async (t) => {
  const { page, model } = await cutAnswer(t);
  await continueButton(page).click();
  const reply = await model.next();
  await lastAnswer(page).locator(".status").getByText("Waiting").waitFor();
  assert.match(JSON.stringify(reply.body.messages), /Once upon/);
  reply.sendText(" a **ti");
  await waitForText(prose(page), "Once upon a ti");
  reply.sendText("me**.");
  reply.end();
  await assertWhole(page, "Once upon a time.");
  await page.reload();
  await assertWhole(page, "Once upon a time.");
});

test("a continued answer survives a reload and shows in a second tab", async (t) => {
  const { page, model, context } = await cutAnswer(t);
  const other = await context.newPage();
  await other.goto(page.url());
  await waitForText(prose(other), "Once upon");
  await continueButton(page).click();
  const reply = await model.next();
  reply.sendText(" a ti");
  for (const reader of [page, other]) await waitForText(prose(reader), "Once upon a ti");
  await page.reload();
  await waitForText(prose(page), "Once upon a ti");
  reply.sendText("me.");
  reply.end();
  for (const reader of [page, other]) await assertWhole(reader, "Once upon a time.");
});

test("a stopped answer goes on and can be stopped again", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once upon");
  await waitForText(prose(page), "Once upon");
  await page.getByRole("button", { name: "Stop" }).click();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await continueButton(page).click();
  const next = await model.next();
  next.sendText(" a time");
  await waitForText(prose(page), "Once upon a time");
  await page.getByRole("button", { name: "Stop" }).click();
  await lastAnswer(page).getByText("This answer was stopped.").waitFor();
  await waitForText(prose(page), "Once upon a time");
  await continueButton(page).waitFor();
});

test("a continuation that is rejected leaves the answer as it is", async (t) => {
  const { page } = await cutAnswer(t);
  await page.route("**/continue", (route) => route.abort());
  await continueButton(page).click();
  await page.locator("#toast").getByText("The server can’t be reached.").waitFor();
  await waitForText(prose(page), "Once upon");
  await continueButton(page).waitFor();
});

test("a complete answer cannot go on", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("The end.");
  reply.end();
  await lastAnswer(page).getByRole("button", { name: "Copy", exact: true }).waitFor();
  assert.equal(await continueButton(page).count(), 0);
});
