// The states of the page: each is checked on four screens (desktop and phone, English and Chinese) in both themes.
//
// With SCREENSHOTS=FOLDER the checks also write a picture of each state and screen as STATE-DEVICE-LANGUAGE-THEME.png.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";

import { assertAccessible } from "./axe.js";
import { setUp } from "./fixture.js";

const DEVICES = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

const LOCALES = { en: "en-GB", zh: "zh-CN" };

/** Defines a test of several states per screen; `run` receives the fixture, the language and `check`. */
export function states(name, run) {
  for (const device of Object.keys(DEVICES)) {
    for (const language of Object.keys(LOCALES)) {
      test(`${name} on a ${device} in ${language}`, { timeout: 600_000 }, (t) => run({ t, phone: device === "phone", language, open: open(t, device, language) }));
    }
  }
}

/** Opens the page; resolves to the fixture with `check` and `label`, which picks a text of the language. */
const open = (t, device, language) => async (options = {}) => {
  const context = { ...DEVICES[device], locale: LOCALES[language], reducedMotion: "reduce" };
  const fixture = await setUp(t, { ...options, context });
  const check = (state, more) => checkState(fixture.page, `${state}-${device}-${language}`, more);
  return { ...fixture, check };
};

/** Checks the page as it is, in both themes. */
async function checkState(page, name, { prepare = async () => {} } = {}) {
  for (const theme of ["light", "dark"]) {
    await page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, theme);
    await prepare();
    await assertAccessible(page);
    assert.deepEqual(await page.evaluate(misplaced), [], `${name} in ${theme}`);
    await takePicture(page, `${name}-${theme}`);
  }
}

async function takePicture(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), scale: "css" });
}

/** Runs in the page: what is beyond the sides of the screen, and labels that are cut without an ellipsis. */
function misplaced() {
  const found = [];
  const sideways = document.documentElement.scrollWidth - innerWidth;
  if (sideways > 0) found.push(`the page is ${sideways} px too wide`);
  for (const dialog of document.querySelectorAll("dialog[open]")) {
    if (dialog.scrollHeight > dialog.clientHeight + 1) found.push(`the end of ${dialog.id} is cut`);
    if (dialog.offsetWidth > dialog.clientWidth + 2) found.push(`a scroll bar squares the corners of ${dialog.id}`);
  }
  const scrolls = ".scrolls, .table, pre, .math, .offscreen, .skip, .call-details-body, [inert], #sidebar";
  for (const node of document.querySelectorAll("button, input, select, textarea, summary, p, li, h1, h2, h3, td, th, label, article, section, .citation-card, .menu-panel")) {
    if (!node.checkVisibility({ visibilityProperty: true }) || node.closest(scrolls)) continue;
    const { left, right, width } = node.getBoundingClientRect();
    const label = `${node.tagName} ${node.className} ${node.textContent.trim().slice(0, 40)}`;
    if (width > 0 && (left < -0.5 || right > innerWidth + 0.5)) found.push(`outside: ${label}`);
    const ellipsis = getComputedStyle(node).textOverflow === "ellipsis";
    if (node.matches("button, summary, label, h2, h3") && !ellipsis && node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0) found.push(`cut: ${label}`);
  }
  return found;
}

/** Sends a message by the button, on every device and in every language. */
export async function send(page, text) {
  await page.locator("#message").fill(text);
  await page.locator("#send").click();
}

/** Waits for the end of the newest answer. */
export const ended = (page) => page.locator(".answer").last().locator(".answer-footer .message-actions").waitFor();

/** Opens the settings dialog. */
export async function openSettings(page, phone) {
  if (phone) await page.locator("#toggle-list").click();
  await page.locator("#open-settings").click();
  await page.locator("#settings-dialog .figures").waitFor();
}
