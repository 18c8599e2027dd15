// Files of messages against the server itself: what it takes, stores, reads and refuses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseFiles, file, picture, transfer } from "../support/attachments.js";
import { exchange, lastAnswer, messageBox, prose, setUp } from "../support/fixture.js";

/** Opens the page of a server that takes files; null for a server of before. */
async function open(t, settings = {}) {
  const fixture = await setUp(t, { settings });
  const { attachments } = await (await fetch(`${fixture.url}/api/models`)).json();
  if (!attachments) {
    t.skip("the server takes no files");
    return null;
  }
  await fixture.page.goto(fixture.url);
  await fixture.page.getByRole("button", { name: "Attach files" }).waitFor();
  return fixture;
}

const attached = (page) => page.locator(".turn.user").last().locator(".attached");
const uploaded = (page, count) => page.waitForFunction((count) => document.querySelectorAll("#files li").length === count && !document.querySelector("#files progress"), count);

test("files reach the model and are shown after a reload", async (t) => {
  const fixture = await open(t);
  if (!fixture) return;
  const { page, model } = fixture;
  await chooseFiles(page, file("my notes.md", "text/markdown", "alpha\nbeta\ngamma\n"), await picture(page, { name: "plan.png", width: 300, height: 200 }));
  await uploaded(page, 2);
  await messageBox(page).fill("What is in them?");
  await messageBox(page).press("Enter");
  const reply = await model.next();
  assert.match(JSON.stringify(reply.body.messages), /beta/);
  assert.match(JSON.stringify(reply.body.messages), /data:image\//);
  reply.sendText("Letters: `my notes.md:2`.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".attached img")?.naturalWidth === 300);
  await attached(page).getByRole("button", { name: /^my notes\.md/ }).click();
  await page.getByRole("dialog", { name: "my notes.md" }).getByText("gamma").waitFor();
  await page.keyboard.press("Escape");
  await prose(page).getByRole("button", { name: "my notes.md:2" }).click();
  await page.locator("#passage-dialog mark").getByText("beta", { exact: true }).waitFor();
});

test("large files are sent as a form and others are refused", async (t) => {
  const fixture = await open(t);
  if (!fixture) return;
  const { page } = fixture;
  await transfer(page, "drop", [{ name: "numbers.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n".repeat(1_200_000)) }]);
  await uploaded(page, 1);
  await page.locator("#files li:not(.failed)").waitFor();
  await chooseFiles(page, file("program.exe", "application/octet-stream", Buffer.from([77, 90, 0, 255, 254, 1, 2, 3])));
  await page.locator("#files .failed").getByText("This type of file isn’t supported.").waitFor();
  await page.getByRole("button", { name: "Remove program.exe" }).click();
  await chooseFiles(page, file("broken.png", "image/png", Buffer.from("\x89PNG\r\n\x1a\nnothing", "latin1")));
  await page.locator("#files .failed").getByText("This file is damaged or can’t be read.").waitFor();
});

test("a model without pictures is named before it is refused", async (t) => {
  const fixture = await open(t, { MODELS: JSON.stringify([{ name: "blind", model: "blind", baseUrl: "http://127.0.0.1:1/v1", images: false }]) });
  if (!fixture) return;
  const { page } = fixture;
  await page.locator(".menu-button").click();
  await page.getByRole("option", { name: /blind/ }).click();
  await chooseFiles(page, await picture(page, { name: "plan.png", width: 30, height: 20 }));
  await uploaded(page, 1);
  await page.getByText("blind can’t see pictures. Choose another model, or remove the picture.").waitFor();
  await messageBox(page).fill("What is it?");
  await messageBox(page).press("Enter");
  await page.locator("#toast").getByText("This model can’t see pictures.").waitFor();
  await uploaded(page, 1);
  assert.equal(await messageBox(page).inputValue(), "What is it?");
});

test("a file of an edited message stays when its chip goes", async (t) => {
  const fixture = await open(t);
  if (!fixture) return;
  const { page } = fixture;
  await chooseFiles(page, file("my notes.md", "text/markdown", "alpha\n"));
  await uploaded(page, 1);
  await exchange(fixture, "What is it?", "A letter.");
  await page.getByRole("button", { name: "Edit message" }).click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("How many letters?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const reply = await fixture.model.next();
  reply.sendText("One.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await attached(page).getByRole("button", { name: /^my notes\.md/ }).click();
  await page.getByRole("dialog", { name: "my notes.md" }).getByText("alpha").waitFor();
});
