// Answers from documents: each cited passage opens, live and after a reload.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { assertAccessible, assertFits } from "../support/axe.js";
import { lastAnswer, prose, sendMessage, setUp } from "../support/fixture.js";

const LEASE = Array.from({ length: 120 }, (_, n) => `Clause ${n + 1}${n === 11 ? ": the rent is <b>900</b> euros" : ""}`);

/** A folder of documents. */
async function makeFolder(t) {
  const folder = await mkdtemp(path.join(tmpdir(), "documents-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, "my contracts"));
  await writeFile(path.join(folder, "my contracts", "lease #1.md"), `${LEASE.join("\n")}\n`);
  await writeFile(path.join(folder, "plan.md"), "First line\nSecond line\n");
  await writeFile(path.join(folder, "scan.pdf"), "%PDF\0\0");
  return folder;
}

async function setUpDocuments(t, options = {}) {
  const folder = await makeFolder(t);
  const fixture = await setUp(t, { settings: { DOCUMENTS_DIR: folder }, ...options });
  return { ...fixture, folder };
}

/** Sends a question to the agent, which reads a document and then answers. */
async function sendQuestion({ page, model }, answer) {
  await page.route("**/api/chat", (route) =>
    route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), agentId: "documents" }) }),
  );
  await sendMessage(page, "What is the rent?");
  const first = await model.next();
  first.sendText(`<tool_call>${JSON.stringify({ tool: "grep_search", pattern: "rent" })}</tool_call>`);
  first.end();
  const reply = await model.next();
  reply.sendText(answer);
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
}

const dialogOf = (page, name) => page.getByRole("dialog", { name });
const numbers = (dialog) => dialog.locator("li").evaluateAll((lines) => lines.map(({ value }) => value));

test("a cited passage opens, live and after a reload", async (t) => {
  const fixture = await setUpDocuments(t);
  const { page, url } = fixture;
  await page.goto(url);
  await sendQuestion(fixture, "It is 900 euros (`my contracts/lease #1.md:12-13`).");
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    const link = prose(page).getByRole("button", { name: "my contracts/lease #1.md:12-13" });
    await link.focus();
    await page.keyboard.press("Enter");
    const dialog = dialogOf(page, "my contracts/lease #1.md");
    await dialog.getByText("Lines 12–13", { exact: true }).waitFor();
    await dialog.getByText("Clause 12: the rent is <b>900</b> euros", { exact: true }).waitFor();
    assert.deepEqual(await numbers(dialog), [8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    assert.deepEqual(await dialog.locator("mark").allTextContents(), LEASE.slice(11, 13));
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.ok(await link.evaluate((node) => node === document.activeElement));
  }
});

test("earlier and later lines load until the ends", async (t) => {
  const fixture = await setUpDocuments(t);
  const { page, url } = fixture;
  await page.goto(url);
  await sendQuestion(fixture, "See `my contracts/lease #1.md:50`.");
  await prose(page).getByRole("button", { name: /lease/ }).click();
  const dialog = dialogOf(page, "my contracts/lease #1.md");
  const [above, below] = ["Show earlier lines", "Show later lines"].map((name) => dialog.getByRole("button", { name }));
  await above.click();
  await dialog.getByText("Clause 6", { exact: true }).waitFor();
  assert.ok(await dialog.getByText("Clause 46", { exact: true }).evaluate((line) => {
    const [box, frame] = [line.getBoundingClientRect(), line.closest(".passage").getBoundingClientRect()];
    return box.top >= frame.top && box.bottom <= frame.bottom;
  }), "the lines stay where they were");
  await above.click();
  await dialog.getByText("Clause 1", { exact: true }).waitFor();
  await above.waitFor({ state: "hidden" });
  await below.evaluate((button) => {
    button.click();
    button.click();
  });
  await dialog.getByText("Clause 94", { exact: true }).waitFor();
  await below.click();
  await dialog.getByText("Clause 120", { exact: true }).waitFor();
  await below.waitFor({ state: "hidden" });
  assert.ok(await dialog.locator(".passage").evaluate((node) => node === document.activeElement));
  assert.deepEqual(await numbers(dialog), LEASE.map((_, n) => n + 1));
});

test("a passage that cannot be shown is explained", async (t) => {
  const fixture = await setUpDocuments(t);
  const { page, url, server } = fixture;
  await page.goto(url);
  await sendQuestion(fixture, "See lost.md:3, scan.pdf:1, plan.md:9 and plan.md:2.");
  const opened = async (name, title) => {
    await prose(page).getByRole("button", { name }).click();
    return dialogOf(page, title);
  };
  for (const [name, title, text] of [
    ["lost.md:3", "lost.md", "There is no document with this name. It may have been moved or deleted."],
    ["scan.pdf:1", "scan.pdf", "This document isn’t text, so it can’t be shown here."],
    ["plan.md:9", "plan.md", "This document has no line 9. It may have changed since."],
  ]) {
    const dialog = await opened(name, title);
    await dialog.getByRole("alert").getByText(text, { exact: true }).waitFor();
    assert.equal(await dialog.getByRole("button").count(), 1, name);
    await dialog.getByRole("button", { name: "Close" }).click();
  }
  await server().stop();
  const dialog = await opened("plan.md:2", "plan.md");
  await dialog.getByText("The server can’t be reached.").waitFor();
  await fixture.restart();
  await dialog.getByRole("button", { name: "Try again" }).click();
  await dialog.locator("mark").getByText("Second line").waitFor();
  assert.deepEqual(await numbers(dialog), [1, 2]);
});

test("without document tools such a text is no button", async (t) => {
  const { page, url, model } = await setUpDocuments(t);
  await page.goto(url);
  await sendMessage(page, "Where is the bug?");
  const reply = await model.next();
  reply.sendText("In `main.rs:12`.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.equal(await prose(page).getByRole("button").count(), 0);
});

for (const [name, context] of [["desktop", {}], ["phone", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, locale: "zh-CN" }]]) {
  test(`a passage is accessible and fits on a ${name}`, async (t) => {
    const fixture = await setUpDocuments(t, { context });
    const { page, url, model, folder } = fixture;
    await writeFile(path.join(folder, "wide.md"), `${"x".repeat(300)}\nSecond\n`);
    await page.goto(url);
    if (name === "phone") {
      await page.route("**/api/chat", (route) => route.continue({ postData: JSON.stringify({ message: "租金？", agentId: "documents" }) }));
      await page.getByRole("textbox").fill("租金？");
      await page.locator("#send").click();
      const first = await model.next();
      first.sendText('<tool_call>{"tool":"list_directory"}</tool_call>');
      first.end();
      const reply = await model.next();
      reply.sendText("见 wide.md:1-2。");
      reply.end();
      await lastAnswer(page).locator(".message-actions").waitFor();
    } else await sendQuestion(fixture, "See wide.md:1-2.");
    await prose(page).getByRole("button", { name: "wide.md:1-2" }).click();
    const dialog = dialogOf(page, "wide.md");
    await dialog.getByText("Second", { exact: true }).waitFor();
    if (name === "phone") await dialog.getByText("第 1–2 行", { exact: true }).waitFor();
    await assertAccessible(page);
    await assertFits(dialog);
  });
}
