// Files in the message box and in messages, and what opens of them.

import { chooseFiles, file, picture, serveAttachments } from "../support/attachments.js";
import { ended, send, states } from "../support/states.js";

const NAMES = {
  en: { document: "lease 2026.pdf", picture: "a-very-long-name-of-a-picture-of-the-flat.png", question: "What is the rent?", answer: "The rent is 900 euros a month (`lease 2026.pdf:2`)." },
  zh: { document: "租约 2026.pdf", picture: "房屋平面图与周边环境示意图（最终修订版本）.png", question: "房租是多少？", answer: "房租每月 900 欧元（`租约 2026.pdf:2`）。" },
};

states("files", async ({ open, language }) => {
  const { page, url, model, check } = await open();
  const names = NAMES[language];
  const stub = await serveAttachments(page, { images: false });
  await page.goto(url);
  await page.locator("#attach").waitFor();
  let release = () => {};
  stub.gate = new Promise((resolve) => (release = resolve));
  await chooseFiles(page, file(names.document, "application/pdf", "%PDF-1.7"), await picture(page, { name: names.picture, width: 320, height: 240, clear: true }));
  await page.locator("#files progress").nth(1).waitFor();
  await check("files-uploading");
  release();
  await page.waitForFunction(() => !document.querySelector("#files progress"));
  stub.fail = { status: 415, code: "unsupported_media_type" };
  await chooseFiles(page, file("program.exe", "application/octet-stream", "MZ"));
  await page.locator("#files .failed").waitFor();
  await check("files-failed");
  await page.locator("#files .failed button").last().click();
  await page.locator("#files .failed").waitFor({ state: "detached" });
  await send(page, names.question);
  const reply = await model.next();
  reply.sendText(names.answer);
  reply.end();
  await ended(page);
  await page.locator(".attached img").waitFor();
  await check("files-message");
  await page.locator(".passage-link").click();
  await page.locator("#passage-dialog mark").waitFor();
  await check("files-pages");
  await page.keyboard.press("Escape");
  await page.locator(".attached button").last().click();
  await page.locator("#picture-dialog img").waitFor();
  await check("files-picture");
});
