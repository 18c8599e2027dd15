// Files of messages: chosen, dropped or pasted, sent, shown and opened.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chooseFiles, file, openBucket, picture, serveAttachments, transfer } from "../support/attachments.js";
import { assertAccessible } from "../support/axe.js";
import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp } from "../support/fixture.js";

async function setUpAttachments(t, { images, ...options } = {}) {
  const fixture = await setUp(t, options);
  const stub = await serveAttachments(fixture.page, { images });
  await fixture.page.goto(fixture.url);
  return { ...fixture, stub };
}

const chips = (page) => page.locator("#files li");
const attached = (page) => page.locator(".turn.user").last().locator(".attached");
const NOTES = file("my notes.md", "text/markdown", "alpha\nbeta\ngamma\n");
const CONTRACT = file("租约 2026.pdf", "application/pdf", "%PDF-1.7");

/** Waits until chips have no progress any more. */
const uploaded = (page, count) => page.waitForFunction((count) => document.querySelectorAll("#files li").length === count && !document.querySelector("#files progress"), count);

test("a server without attachments has no button", async (t) => {
  const { page, url } = await setUp(t);
  await page.route("**/api/models", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { models: (await response.json()).models } });
  });
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Attach files" }).isVisible(), false);
  await transfer(page, "paste", [NOTES]);
  assert.equal(await chips(page).count(), 0);
});

test("a temporary conversation with files has its welcome above them", async (t) => {
  const { page } = await setUpAttachments(t);
  await page.getByRole("button", { name: "Temporary conversation" }).click();
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await chooseFiles(page, NOTES, await picture(page, { name: "plan.png", width: 300, height: 200 }));
  await uploaded(page, 2);
  assert.equal(await page.locator("#scroller").evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight), 0);
});

test("an attached file leaves the headline and the composer where they are", async (t) => {
  for (const viewport of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    const { page } = await setUpAttachments(t, { context: { viewport } });
    await page.getByRole("button", { name: "Attach files" }).waitFor();
    await page.locator(".example").nth(2).waitFor();
    const tops = () => page.evaluate(() => ["#welcome h2", "#composer"].map((part) => document.querySelector(part).getBoundingClientRect().top));
    const before = await tops();
    await chooseFiles(page, NOTES);
    await uploaded(page, 1);
    assert.deepEqual(await tops(), before);
  }
});

test("attached files are sent, shown and opened", async (t) => {
  const fixture = await setUpAttachments(t);
  const { page, stub } = fixture;
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await chooseFiles(page, NOTES, await picture(page, { name: "plan.png", width: 300, height: 200 }));
  await uploaded(page, 2);
  await assertAccessible(page);
  assert.equal(stub.uploads.length, 2);
  assert.match(stub.uploads[0].headers["x-amz-content-sha256"], /^[0-9a-f]{64}$/);
  await exchange(fixture, "What is in them?", "Letters: `my notes.md:2` and other.md:3.");
  assert.deepEqual(stub.chats, [{ text: "What is in them?", attachments: ["a1", "a2"] }]);
  assert.equal(await chips(page).count(), 0);
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await page.waitForFunction(() => document.querySelector(".attached img")?.naturalWidth === 300);
    await attached(page).getByRole("button", { name: /^plan\.png/ }).click();
    const dialog = page.getByRole("dialog", { name: "plan.png" });
    await page.waitForFunction(() => document.querySelector("#picture-dialog img")?.naturalWidth === 300);
    await assertAccessible(page, "dialog");
    await dialog.getByRole("button", { name: "Close" }).click();
    await attached(page).getByRole("button", { name: /^my notes\.md/ }).click();
    await page.getByRole("dialog", { name: "my notes.md" }).getByText("gamma").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await prose(page).getByRole("button").count(), 1, "other.md is no file of the conversation");
    await prose(page).getByRole("button", { name: "my notes.md:2" }).click();
    const passage = page.getByRole("dialog", { name: "my notes.md" });
    await passage.getByText("Line 2", { exact: true }).waitFor();
    await passage.locator("mark").waitFor();
    assert.deepEqual(await passage.locator("mark").allTextContents(), ["beta"]);
    await page.keyboard.press("Escape");
  }
});

test("a cited page of a file opens at that page", async (t) => {
  const fixture = await setUpAttachments(t);
  const { page, model } = fixture;
  await chooseFiles(page, CONTRACT);
  await uploaded(page, 1);
  await page.route(/\/api\/conversations\/\w+\?/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.messages[0].attachments = [{ id: "a1", name: "租约 2026.pdf", type: "application/pdf", bytes: 8, kind: "text" }];
    body.messages.at(-1).sources = [{ index: 1, title: "租约 2026.pdf", url: "attachment:a1#page=2", excerpt: "900 euros" }];
    await route.fulfill({ response, json: body });
  });
  await sendMessage(page, "What is the rent?");
  const reply = await model.next();
  reply.sendText("It is 900 euros [1], see `租约 2026.pdf:3`.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await attached(page).getByRole("button").waitFor();
  const opens = async (opener, title, text) => {
    await opener.click();
    const dialog = page.getByRole("dialog", { name: "租约 2026.pdf" });
    await dialog.locator(".passage-lines").getByText(title, { exact: true }).waitFor();
    await dialog.locator("mark").waitFor();
    assert.deepEqual(await dialog.locator("mark").allTextContents(), [text]);
    await assertAccessible(page, "dialog");
    await page.keyboard.press("Escape");
  };
  await opens(prose(page).getByRole("link", { name: "Source 1" }), "Page 2", "The rent is 900 euros.");
  await opens(prose(page).getByRole("button", { name: "租约 2026.pdf:3" }), "Page 3", "The last page.");
  await lastAnswer(page).locator(".sources-toggle").click();
  await opens(lastAnswer(page).locator(".sources a"), "Page 2", "The rent is 900 euros.");
  assert.equal(await lastAnswer(page).locator(".source-host").textContent(), "Page 2");
});

test("dropped and pasted files are attached", async (t) => {
  const { page, stub } = await setUpAttachments(t);
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await transfer(page, "dragover", [NOTES]);
  assert.ok(await page.locator("#composer").evaluate((node) => node.hasAttribute("data-target")));
  await transfer(page, "drop", [NOTES]);
  assert.ok(await page.locator("#composer").evaluate((node) => !node.hasAttribute("data-target")));
  await uploaded(page, 1);
  await transfer(page, "paste", [await picture(page, { name: "image.png", width: 20, height: 20 })]);
  await uploaded(page, 2);
  assert.deepEqual([...stub.files.values()].map(({ name, kind }) => [name, kind]), [["my notes.md", "text"], ["image.png", "image"]]);
});

test("sending waits for uploads, which can be cancelled", async (t) => {
  const { page, stub } = await setUpAttachments(t);
  let open = () => {};
  stub.gate = new Promise((resolve) => (open = resolve));
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await chooseFiles(page, NOTES, CONTRACT);
  await messageBox(page).fill("Summary?");
  await page.getByText("You can send once the upload is done.", { exact: true }).first().waitFor();
  assert.ok(await page.locator("#send").isDisabled());
  await messageBox(page).press("Enter");
  assert.equal(await page.locator("#announcer").textContent(), "You can send once the upload is done.");
  await assertAccessible(page);
  await page.getByRole("button", { name: "Cancel the upload of my notes.md" }).click();
  open();
  await uploaded(page, 1);
  assert.deepEqual(await chips(page).locator(".file-name").allTextContents(), ["租约 2026.pdf"]);
  assert.ok(await page.locator("#send").isEnabled());
  await page.getByRole("button", { name: "Remove 租约 2026.pdf" }).click();
  await chips(page).waitFor({ state: "detached" });
  const id = [...stub.files.values()].find(({ name }) => name === "租约 2026.pdf").id;
  assert.ok(stub.deleted.includes(id));
});

test("a failed upload names its reason and can be tried again", async (t) => {
  const { page, stub } = await setUpAttachments(t);
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  for (const [status, code, text] of [
    [415, "unsupported_media_type", "This type of file isn’t supported."],
    [400, "invalid_attachment", "This file is damaged or can’t be read."],
    [413, "too_large", "This file is too large. The limit is 25 MB, or 4 MB and 8,000 pixels a side for an image."],
    [429, "rate_limited", "Too many requests."],
  ]) {
    stub.fail = { status, code };
    if (code === "unsupported_media_type") await chooseFiles(page, NOTES);
    else await page.getByRole("button", { name: "Upload my notes.md again" }).click();
    await chips(page).getByText(text, { exact: true }).waitFor();
  }
  await messageBox(page).fill("Summary?");
  assert.ok(await page.locator("#send").isDisabled());
  await page.locator("#composer-hint").getByText("A file wasn’t attached. Try again or remove it before you send.").waitFor();
  await assertAccessible(page);
  stub.fail = null;
  await page.getByRole("button", { name: "Upload my notes.md again" }).click();
  await uploaded(page, 1);
  assert.ok(await page.locator("#send").isEnabled());
});

test("a message has at most ten files of 25 MiB", async (t) => {
  const { page, stub } = await setUpAttachments(t);
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await transfer(page, "drop", [
    { name: "huge.txt", mimeType: "text/plain", size: 25 * 1024 * 1024 + 1 },
    { name: "big.csv", mimeType: "text/csv", size: 5 * 1024 * 1024 },
  ]);
  await chips(page).getByText("This file is too large. The limit is 25 MB, or 4 MB and 8,000 pixels a side for an image.").waitFor();
  await page.waitForFunction(() => document.querySelectorAll("#files progress").length === 0);
  assert.deepEqual(stub.uploads.map(({ path }) => path), ["/api/attachments/uploads", "/api/attachments/big/content", "/api/attachments/big/complete"]);
  assert.deepEqual(stub.formats, [{ name: "big.csv", type: "text/csv", bytes: 5 * 1024 * 1024 }]);
  await chooseFiles(page, ...Array.from({ length: 9 }, (_, n) => file(`${n}.txt`, "text/plain", "x")));
  await page.locator("#toast").getByText("A message can have up to 10 files. The rest were left out.").waitFor();
  await page.waitForFunction(() => document.querySelectorAll("#files li").length === 10);
});

test("large pictures are reduced and small ones are not", async (t) => {
  const { page, stub } = await setUpAttachments(t);
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  const small = await picture(page, { name: "small.png", width: 400, height: 300 });
  await chooseFiles(
    page,
    small,
    await picture(page, { name: "photo.jpg", type: "image/jpeg", width: 3000, height: 1500 }),
    await picture(page, { name: "disc.png", width: 2500, height: 2500, clear: true }),
    await picture(page, { name: "noise.png", width: 2400, height: 2400 }),
    file("moving.gif", "image/gif", "GIF89a"),
  );
  await uploaded(page, 5);
  const sizeOf = async ({ body, type }) => page.evaluate(async ({ base64, type }) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], { type }));
    return [bitmap.width, bitmap.height];
  }, { base64: body.toString("base64"), type });
  const files = [...stub.files.values()];
  assert.deepEqual(files.map(({ name, type }) => [name, type]), [
    ["small.png", "image/png"],
    ["photo.jpg", "image/jpeg"],
    ["disc.png", "image/png"],
    ["noise.webp", "image/webp"],
    ["moving.gif", "image/gif"],
  ]);
  assert.ok(files[0].body.equals(small.buffer));
  assert.deepEqual(await Promise.all(files.slice(1, 4).map(sizeOf)), [[2048, 1024], [2048, 2048], [2048, 2048]]);
});

test("a picture for a model without pictures is noted", async (t) => {
  const { page } = await setUpAttachments(t, { images: false });
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await chooseFiles(page, NOTES);
  await uploaded(page, 1);
  const note = page.getByText("test-model can’t read images. Choose another model, or remove the image.");
  assert.equal(await note.count(), 0);
  await chooseFiles(page, await picture(page, { name: "plan.png", width: 30, height: 20 }));
  await note.waitFor();
});

test("editing a question keeps its files", async (t) => {
  const fixture = await setUpAttachments(t);
  const { page, stub } = fixture;
  await chooseFiles(page, NOTES);
  await uploaded(page, 1);
  await exchange(fixture, "What is it?", "Letters.");
  await page.getByRole("button", { name: "Edit message" }).click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("How many letters?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const reply = await fixture.model.next();
  reply.sendText("Three.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.deepEqual(stub.chats.map(({ attachments }) => attachments), [["a1"], ["a1"]]);
  await attached(page).getByRole("button", { name: /^my notes\.md/ }).waitFor();
});

test("files stay with their draft and come back after a rejection", async (t) => {
  const fixture = await setUpAttachments(t);
  const { page, stub } = fixture;
  await exchange(fixture, "First", "Yes.");
  await chooseFiles(page, NOTES);
  await uploaded(page, 1);
  await page.getByRole("button", { name: "New conversation" }).first().click();
  assert.equal(await chips(page).count(), 0);
  await page.goBack();
  await uploaded(page, 1);
  await page.reload();
  await uploaded(page, 1);
  await page.route("**/api/chat", (route) =>
    route.fulfill({ status: 400, contentType: "application/json", body: JSON.stringify({ error: { code: "images_unsupported", message: "no" } }) }),
  );
  await sendMessage(page, "What is it?");
  await page.locator("#toast").getByText("This model can’t read an image of this message.").waitFor();
  await uploaded(page, 1);
  assert.equal(await messageBox(page).inputValue(), "What is it?");
  assert.deepEqual(stub.deleted, []);
});

test("paper and shared copies have the names only", async (t) => {
  const fixture = await setUpAttachments(t);
  const { page, url } = fixture;
  await chooseFiles(page, NOTES, CONTRACT);
  await uploaded(page, 2);
  await exchange(fixture, "What is it?", "Letters.");
  await page.evaluate(() => (window.print = () => (window.printed = document.querySelector("#print-copy .user").innerText)));
  await page.getByRole("button", { name: "Conversation actions" }).click();
  await page.getByRole("menuitem", { name: "Export…" }).click();
  await page.getByRole("button", { name: "Print" }).click();
  await page.waitForFunction(() => window.printed !== undefined);
  assert.match(await page.evaluate(() => window.printed), /Attached: my notes\.md, 租约 2026\.pdf/);
  const messages = [
    { role: "user", content: "What is it?", attachments: [{ name: "my notes.md" }] },
    { role: "assistant", content: "Letters [1].", status: "complete", sources: [{ index: 1, title: "my notes.md", url: "attachment:a1#line=2" }] },
  ];
  await page.route("**/api/shares/copy", (route) => route.fulfill({ json: { title: "Copy", createdAt: "2026-11-27T10:00:00Z", messages } }));
  await page.goto(`${url}/share/copy`);
  await page.getByText("Attached: my notes.md", { exact: true }).waitFor();
  await page.locator(".source-host").getByText("Line 2").waitFor();
  assert.equal(await page.locator(".answer a[href]").count(), 0);
});

test("files need the credential, which no other origin gets", async (t) => {
  // The policy of a deployment with a bucket permits its origin.
  const { page, url } = await setUp(t, { context: { bypassCSP: true } });
  const stub = await serveAttachments(page);
  const bucket = await openBucket(t);
  stub.address = bucket.url;
  let key = "first-key";
  await page.route("**/api/**", (route) => {
    if (route.request().headers()["x-api-key"] === key) return route.fallback();
    return route.fulfill({ status: 401, json: { error: { code: "unauthorized", message: "A valid access key is required." } } });
  });
  const useKey = async () => {
    await page.getByRole("dialog").getByLabel("Key").fill(key);
    await page.getByRole("button", { name: "Use key" }).click();
  };
  await page.goto(url);
  await useKey();
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  key = "second-key";
  await chooseFiles(page, await picture(page, { name: "plan.png", width: 30, height: 20 }));
  await useKey();
  await uploaded(page, 1);
  await transfer(page, "drop", [{ name: "big.csv", mimeType: "text/csv", size: 5 * 1024 * 1024 }]);
  await uploaded(page, 2);
  assert.deepEqual(stub.uploads.map(({ headers }) => headers["x-api-key"]), Array(3).fill("second-key"));
  assert.equal(bucket.requests.length, 1);
  const [{ headers, text }] = bucket.requests;
  assert.deepEqual([headers["x-api-key"], headers.authorization, headers.cookie], [undefined, undefined, undefined]);
  assert.ok(text.indexOf('name="key"') < text.indexOf('name="file"'), "the file is the last field");
});
