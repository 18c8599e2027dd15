// Where the boxes of the page are and how it looks, in a few states, on three screens, in both languages and themes:
// compared with kept numbers, which are those of Chromium, and with the kept pictures of each browser.
//
// `GEOMETRY=write` writes them again.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";

import { converse } from "./library.js";
import { comparePictures, hideChanging, writePictures } from "./pictures.js";

const FILE = new URL("../states/geometry.json", import.meta.url);

const SCREENS = { desktop: [1440, 900], tablet: [820, 1180], phone: [390, 844] };

const LOCALES = ["en", "zh-CN"];

/** How far the top and bottom of a box may be from the kept ones where texts are above or in it, in pixels. */
const FLOW = 64;

/** The boxes that no text moves. */
const FIXED = ["#sidebar", "#main > header", ".admin-head"];

/** Other boxes. */
const FLOWING = [
  "#composer", "#send", "#messages .answer", "#messages .table", "#messages pre", ".answer-footer", "#settings-dialog", "#settings-dialog section", "#instructions",
  ".admin-tabs", "#admin-panel", ".admin-form", ".admin-form fieldset", ".admin-extra",
];

const ANSWER = "A heat pump moves heat.\n\n| Year | Cost |\n| --- | --- |\n| 2026 | 41 |\n\n```js\nlet cost = 41;\n```\n\n- one\n- two\n";

/** Makes what the states show; resolves to their addresses, what is clicked there, and what is waited for. */
async function makeStates(stack) {
  const [id] = await converse(stack, [["What does it cost?", ANSWER]]);
  const endpoint = { urlTemplate: "https://weather.example/v1/{city}" };
  const body = JSON.stringify({ name: "weather", description: "The weather.", type: "invokable", endpoint, parameters: { city: { type: "string" } } });
  const made = await fetch(`${stack.url}/api/admin/tools`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const tool = await made.json();
  return [
    ["empty", "#/", "#welcome", ""],
    ["answer", `#/c/${id}`, ".answer-footer .message-actions", ""],
    ["settings", "#/", "#settings-dialog .figures", "#open-settings"],
    ["list", "#/admin/tools", "#admin .admin-list", ""],
    ["form", `#/admin/tools/${tool.id}`, "#trial-form", ""],
  ];
}

/** Runs in the page: the visible boxes of selectors, as left, top, right, bottom and the radius of their corners. */
function measure(selectors) {
  const boxes = {};
  for (const selector of selectors) {
    const node = [...document.querySelectorAll(selector)].find((node) => node.checkVisibility({ visibilityProperty: true }));
    const { left, top, right, bottom } = node?.getBoundingClientRect() ?? {};
    if (node) boxes[selector] = [left, top, right, bottom, parseFloat(getComputedStyle(node).borderTopLeftRadius)].map(Math.round);
  }
  return boxes;
}

/** Measures all states in a page, whose size `resize` changes; `check` gets their names. Themes have equal boxes. */
async function measureAll(page, stack, { resize, check }) {
  const states = await makeStates(stack);
  const measured = {};
  for (const locale of LOCALES) {
    await page.goto(stack.url);
    await page.evaluate((locale) => localStorage.setItem("language", locale), locale);
    for (const [screen, [width, height]] of Object.entries(SCREENS)) {
      await resize(width, height);
      for (const [name, address, content, clicked] of states) {
        await page.goto("about:blank");
        await page.goto(`${stack.url}/${address}`);
        await page.waitForSelector("#message");
        if (clicked) await page.evaluate((clicked) => document.querySelector(clicked).click(), clicked);
        await page.waitForSelector(content);
        await page.waitForFunction(() => document.querySelector("#conversations a") !== null);
        await hideChanging(page);
        assert.equal(await page.evaluate(() => document.documentElement.lang), locale);
        const themes = [];
        for (const theme of ["light", "dark"]) {
          await page.evaluate((theme) => void (document.documentElement.dataset.theme = theme), theme);
          themes.push(await page.evaluate(measure, [...FIXED, ...FLOWING]));
          await check(`${name} ${screen} ${locale} ${theme}`);
        }
        assert.deepEqual(themes[1], themes[0], `${name} on a ${screen} in ${locale}: both themes are alike`);
        measured[`${name} ${screen} ${locale}`] = themes[0];
      }
    }
  }
  return measured;
}

/** The differences of measured boxes from the kept ones, of more than `tolerance` at the sides. */
function differences(measured, kept, tolerance) {
  const found = [];
  for (const state of new Set([...Object.keys(measured), ...Object.keys(kept)])) {
    const [now, before] = [measured[state] ?? {}, kept[state] ?? {}];
    for (const selector of new Set([...Object.keys(now), ...Object.keys(before)])) {
      const [at, was] = [now[selector] ?? [], before[selector] ?? []];
      const vertical = FIXED.includes(selector) ? tolerance : FLOW;
      const limits = [tolerance, vertical, tolerance, vertical, 0];
      const differs = limits.some((limit, side) => !(Math.abs(at[side] - was[side]) <= limit));
      if (differs) found.push(`${state}: ${selector} is at ${at}, was at ${was}`);
    }
  }
  return found;
}

/** Asserts that the boxes of all states are where they were, up to `tolerance` pixels, and that they look the same. */
export async function assertGeometry(page, stack, { browser, resize, tolerance }) {
  const writes = process.env.GEOMETRY === "write";
  const pictures = await (writes ? writePictures : comparePictures)(page, browser);
  const measured = await measureAll(page, stack, { resize, check: pictures.check });
  if (writes && browser === "chromium") {
    const rows = Object.entries(measured).map(([state, boxes]) => `  ${JSON.stringify(state)}: ${JSON.stringify(boxes)}`);
    await writeFile(FILE, `{\n${rows.join(",\n")}\n}\n`);
  }
  const boxes = differences(measured, JSON.parse(await readFile(FILE, "utf8")), tolerance);
  assert.deepEqual([...boxes, ...pictures.failures()], []);
}
