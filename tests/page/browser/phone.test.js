// Narrow screens with several models and agents: everything is on the screen, large enough and free of axe violations.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";

import { animationsEnded } from "../support/animations.js";
import { lastAnswer, openSources, prose, sendMessage, setUp } from "../support/fixture.js";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serves three models and three agents with long names. */
async function offerChoices(page) {
  const models = ["gpt-large", "deepseek-reasoner-with-a-long-name", "local"].map((name, n) => ({
    name, provider: "p", model: `${name}-2026-01-01`, default: n === 0, tools: "prompt", toolsFrom: "table", demo: false,
  }));
  const agents = ["Default", "Weather and travel assistant", "Documents"].map((name, n) => ({
    id: n === 0 ? "default" : `01AGENT${n}`, name, description: `Answers questions about ${name}. `.repeat(2), default: n === 0,
  }));
  await page.route("**/api/models", (route) => route.fulfill({ json: { models } }));
  await page.route("**/api/agents", (route) => route.fulfill({ json: { agents } }));
}

/** The controls that are not inside the screen or smaller than `least` pixels, once everything stopped moving. */
async function misplaced(page, least) {
  await animationsEnded(page);
  return page.evaluate((least) => {
    const controls = [...document.querySelectorAll("header button, footer button, .menu-panel, .menu-option, .menu-item, #conversations a, .example")];
    const shown = controls.filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.closest("[inert]"));
    return shown.flatMap((node) => {
      const { left, right, top, bottom, height } = node.getBoundingClientRect();
      // Options scroll inside of their panel.
      const scrolls = node.matches(".menu-option");
      const inside = left >= 0 && right <= innerWidth && (scrolls || (top >= 0 && bottom <= innerHeight));
      return inside && height >= least ? [] : [`${node.id || node.className} ${node.textContent}: ${[left, right, top, bottom, height]}`];
    });
  }, least);
}

/** The violations that axe finds. */
async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

for (const width of [320, 360, 390, 430]) {
  test(`model, agent and all controls fit ${width} pixels`, async (t) => {
    const context = { viewport: { width, height: 740 }, hasTouch: true, isMobile: true };
    const { page, url, model } = await setUp(t, { context });
    await offerChoices(page);
    await page.goto(url);
    const choice = page.getByRole("button", { name: /^Model and agent/ });
    await choice.waitFor();
    assert.deepEqual(await misplaced(page, 44), []);
    await choice.click();
    assert.deepEqual(await misplaced(page, 44), []);
    await page.getByRole("option", { name: /^deepseek/ }).click();
    await choice.click();
    await page.getByRole("option", { name: /^Weather/ }).click();
    assert.deepEqual(await misplaced(page, 44), []);
    assert.ok((await page.locator("#title").boundingBox()).width > 60);

    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("First line");
    await box.press("Enter");
    await box.pressSequentially("second line");
    assert.equal(await box.inputValue(), "First line\nsecond line");
    await page.route("**/api/chat", (route) => {
      const { message, timeZone } = route.request().postDataJSON();
      return route.continue({ postData: JSON.stringify({ message, timeZone }) });
    });
    await page.getByRole("button", { name: "Send" }).click();
    const reply = await model.next();
    reply.sendText("Yes.");
    reply.end();
    await prose(page).getByText("Yes.").waitFor();
    await page.getByRole("button", { name: "List of conversations" }).click();
    await page.getByRole("button", { name: /^Actions for/ }).click();
    await page.getByRole("menuitem", { name: "Rename" }).waitFor();
    assert.deepEqual(await misplaced(page, 44), []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
  });
}

for (const colorScheme of ["light", "dark"]) {
  for (const [name, context] of [["desktop", {}], ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]]) {
    test(`axe finds nothing on a ${name} in ${colorScheme}`, async (t) => {
      const { page, url, model, search } = await setUp(t, { context: { ...context, colorScheme, reducedMotion: "reduce" } });
      await offerChoices(page);
      await page.goto(url);
      await page.getByRole("button", { name: /^Model and agent/ }).click();
      assert.deepEqual(await violations(page), []);
      await page.keyboard.press("Escape");
      await page.route("**/api/chat", (route) => route.continue({ postData: JSON.stringify({ message: "Tea?" }) }));
      await sendMessage(page, "Tea?");
      const first = await model.next();
      first.sendReasoning("Hm.");
      first.callSearch("tea");
      (await search.next()).respond(6);
      const reply = await model.next();
      reply.sendText("# Tea\n\nLeaves [1].[^1]\n\n- [x] hot\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet a = 1;\n```\n\n$$x^2$$\n\n[^1]: Note");
      reply.end();
      await lastAnswer(page).locator(".message-actions").waitFor();
      await lastAnswer(page).locator(".hljs-keyword").waitFor();
      await lastAnswer(page).locator(".step").click();
      await openSources(page);
      await lastAnswer(page).getByRole("button", { name: "More" }).click();
      assert.deepEqual(await violations(page), []);
      if (name === "phone") await page.getByRole("button", { name: "List of conversations" }).click();
      await page.getByRole("button", { name: "Settings" }).click();
      await page.getByRole("row", { name: /^Answers/ }).waitFor();
      const close = await page.locator("dialog[open] .actions button").last().boundingBox();
      assert.ok(close.y + close.height <= page.viewportSize().height, "the button is in sight without scrolling");
      assert.deepEqual(await violations(page), []);
    });
  }
}

/** Whether the placeholder has all of its text on the screen, which no property of the box reports. */
function fitsPlaceholder() {
  const box = document.querySelector("#message");
  const style = getComputedStyle(box);
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = `${style.fontSize} ${style.fontFamily}`;
  return document.querySelector("#choice button") !== null && canvas.measureText(box.placeholder).width <= box.clientWidth;
}

for (const locale of ["en-GB", "zh-CN"]) {
  test(`the placeholder is whole on a small phone in ${locale}`, async (t) => {
    const { page, url } = await setUp(t, { context: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, locale } });
    await offerChoices(page);
    await page.goto(url);
    await page.waitForFunction(fitsPlaceholder);
  });
}

test("the note of a temporary conversation covers nothing", async (t) => {
  for (const locale of ["en-GB", "zh-CN"]) {
    const context = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale };
    const { page, url } = await setUp(t, { context, settings: { OPENAI_BASE_URL: "", OPENAI_MODEL: "", OPENAI_API_KEY: "", TAVILY_BASE_URL: "", TAVILY_API_KEY: "" } });
    await page.goto(url);
    await page.locator(".example").nth(2).waitFor();
    await page.locator("#temporary").click();
    await page.locator("#temporary-note").waitFor();
    const [header, logo] = await Promise.all(["#main > header", "#welcome > :first-child"].map((part) => page.locator(part).first().boundingBox()));
    assert.ok(logo.y >= header.y + header.height, `${locale}: the logo begins at ${logo.y}`);
  }
});
