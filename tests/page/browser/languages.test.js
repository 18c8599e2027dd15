// The page in Chinese and English: by the browser's language, and by choice.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lastAnswer, setUp } from "../support/fixture.js";

/** Whether a text has characters of a Chinese text. */
const isChinese = (text) => /\p{Script=Han}/u.test(text);

test("the browser's language selects the page's", async (t) => {
  const { page, url } = await setUp(t, { context: { locale: "zh-CN" } });
  await page.goto(url);
  await page.getByRole("heading", { name: "想了解点什么？" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
  await page.getByRole("button", { name: "设置" }).click();
  await page.getByLabel("语言").selectOption("English");
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
});

test("a Chinese page shows no English text", async (t) => {
  const { page, url } = await setUp(t, { context: { locale: "zh-CN" } });
  await page.goto(url);
  await page.getByText("对话会显示在这里。").waitFor();
  const labels = await page.evaluate(() =>
    [...document.querySelectorAll("button, a, h1, h2, p, label, textarea, nav")].flatMap((node) => [
      node.getAttribute("aria-label") ?? "",
      node.getAttribute("placeholder") ?? "",
      ...(node.lang === "en" ? [] : [...node.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data)),
    ]),
  );
  const english = labels.filter((label) => label.trim() !== "" && !isChinese(label));
  assert.deepEqual(english, []);
});

test("an erasure is confirmed in Chinese", async (t) => {
  const { page, url } = await setUp(t, { context: { locale: "zh-CN" } });
  await page.goto(url);
  await page.getByRole("button", { name: "设置" }).click();
  await page.getByRole("button", { name: "清除全部数据…" }).click();
  const confirmation = page.getByLabel("输入“清除”以确认");
  await confirmation.fill("erase");
  await confirmation.press("Enter");
  await page.getByText("请输入“清除”。").waitFor();
  await confirmation.fill("清除");
  await confirmation.press("Enter");
  await page.getByRole("dialog", { name: "数据已全部清除" }).waitFor();
});

test("a Chinese page names a failed call and the default agent", async (t) => {
  const { page, url, model } = await setUp(t, { context: { locale: "zh-CN" } });
  const agents = [{ id: "default", name: "Default" }, { id: "01AGENT", name: "News" }];
  await page.route("**/api/agents", (route) => route.fulfill({ json: { agents } }));
  await page.goto(url);
  await page.getByRole("button", { name: "模型和智能体：默认" }).waitFor();
  await page.locator("#message").fill("现在几点？");
  await page.locator("#send").click();
  const first = await model.next();
  first.sendText('<tool_call>{"tool":"calculator","wrong":1}</tool_call>');
  first.end();
  const reply = await model.next();
  reply.sendText("不知道。");
  reply.end();
  await lastAnswer(page).locator(".step.failed", { hasText: "模型调用工具时参数有误。" }).waitFor();
});
