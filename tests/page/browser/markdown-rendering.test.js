// Incremental rendering in the browser: equal to rendering at once, and in linear time.

import assert from "node:assert/strict";
import { test } from "node:test";

import { lastAnswer, sendMessage, setUp, waitForText } from "../support/fixture.js";

/** Runs in the page: renders random texts in chunks and at once, and returns the first difference, or null. */
async function firstDifference(seeds) {
  const { MarkdownView } = await import("/assets/markdown.js");
  const parts = [
    "a", " b", "\n", "\n\n", "- ", "* ", "1. ", "  ", "    ", "> ", "# ", "```", "```js\n", "~~~\n", "|",
    "| a | b |\n", "|---|--:|\n", "---", "\n****", "\n____", "***", "**", "*", "_", "`", "[", "](", ")",
    "[x](https://a.example/)", "https://a.example", "\\", "<b>", "重，", "[1]",
  ];
  const render = (pieces, growing = true) => {
    const root = document.createElement("div");
    const view = new MarkdownView(root, (number) =>
      number === 1 ? { url: "https://one.example/", title: "One" } : null,
    );
    for (const piece of pieces) {
      view.push(piece);
      if (growing) view.render();
    }
    view.finish();
    root.normalize();
    return root.innerHTML;
  };
  for (let seed = 1; seed <= seeds; seed += 1) {
    let state = seed * 7919;
    const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
    const pieces = Array.from({ length: 3 + (next() % 30) }, () => parts[next() % parts.length]);
    const text = pieces.join("");
    const whole = render([text], false);
    for (const cut of [pieces, text.split("")]) {
      const grown = render(cut);
      if (grown !== whole) return { seed, text, whole, grown };
    }
  }
  return null;
}

test("incremental rendering equals rendering at once", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  assert.equal(await page.evaluate(firstDifference, 5_000), null);
});

/** Runs in the page: returns the rendering time in ms for chunks of `step` characters. */
async function renderTime({ piece, size, step }) {
  const { MarkdownView } = await import("/assets/markdown.js");
  const text = piece.repeat(size / piece.length);
  const startedAt = performance.now();
  const view = new MarkdownView(document.createElement("div"));
  for (let at = 0; at < text.length; at += step) {
    view.push(text.slice(at, at + step));
    view.render();
  }
  view.finish();
  return performance.now() - startedAt;
}

test(
  "f138_ hostile lines render in bounded time",
  { timeout: 300_000 },
  async (t) => {
    const { page, url } = await setUp(t);
    await page.goto(url);
    for (const piece of [
      "*", "[", "**a ", "[a](", "`a ", "> ", "- ", "|", "<b>", "*a _b ", "![a](https://a.example/) ", "word ",
    ]) {
      for (const step of [200_000, 500]) {
        const elapsedMs = await page.evaluate(renderTime, { piece, size: 200_000, step });
        assert.ok(elapsedMs < 30_000, `${piece} in steps of ${step}: ${elapsedMs} ms`);
      }
    }
  },
);

test(
  "small deltas of a long answer stay cheap",
  { timeout: 120_000 },
  async (t) => {
    const { page, url } = await setUp(t);
    await page.goto(url);
    const piece = "A paragraph with **bold** words and a [link](https://a.example/).\n\n";
    const elapsedMs = await page.evaluate(renderTime, { piece, size: piece.length * 4_000, step: 20 });
    assert.ok(elapsedMs < 30_000, `${elapsedMs} ms`);
  },
);

test("200,000 stars keep the page responsive", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Stars?");
  const reply = await model.next();
  for (let n = 0; n < 50; n += 1) reply.sendText("x*".repeat(2_000));
  reply.end();
  await lastAnswer(page).locator(".usage").waitFor();
  await page.getByRole("button", { name: "New conversation" }).click();
  await waitForText(page.locator("#welcome h2"), "What would you like to know?");
});
