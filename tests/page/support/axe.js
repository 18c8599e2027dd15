// The accessibility rules of axe-core, and the checks that every state of a screen must pass.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";

import { animationsEnded } from "./animations.js";

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Asserts that axe finds no violation in the page, or in the part that the selector names. */
export async function assertAccessible(page, selector = "html") {
  // Parts of the page are loaded when they are first shown.
  await page.waitForSelector(selector);
  // A finished animation does not change colours any more; one without an end only moves.
  await animationsEnded(page);
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(source);
  const violations = await page.evaluate(async (root) => {
    const { violations } = await globalThis.axe.run(root);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`);
  }, selector);
  assert.deepEqual(violations, []);
}

/** Asserts that nothing of a dialog is beyond the screen's width. */
export async function assertFits(dialog) {
  const found = await dialog.evaluate((node) => ({
    sideways: node.scrollWidth - node.clientWidth,
    outside: [...node.querySelectorAll("button, input, select, textarea, p, h3, td")]
      .filter((part) => part.checkVisibility() && !part.closest(".scrolls, .offscreen"))
      .map((part) => ({ box: part.getBoundingClientRect(), html: part.outerHTML.slice(0, 120) }))
      .filter(({ box }) => box.left < 0 || box.right > window.innerWidth + 0.5)
      .map(({ html }) => html),
  }));
  assert.deepEqual(found, { sideways: 0, outside: [] });
}

/** The screens on which each dialog is checked, with the language of the browser. */
export const SCREENS = [
  { name: "desktop in English", options: { viewport: { width: 1280, height: 800 }, locale: "en-GB" } },
  {
    name: "phone in Chinese",
    options: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, locale: "zh-CN", colorScheme: "dark" },
  },
];
