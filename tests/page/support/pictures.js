// Pictures of the page compared with kept ones, which are in states/pictures for each browser, reduced to cells.
//
// The kept ones are of Chromium 156 and Firefox 153 (2026-11).

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { PNG } from "pngjs";

import { CELL, differences, isSame, reduce } from "./cells.js";

const FOLDER = new URL("../states/pictures/", import.meta.url);

/** How long a test waits for one picture to become as it was, in milliseconds: the page may be late. */
const TIMEOUT_MS = 10_000;

/** How long it waits for all of them, when the page has changed in many states. */
const TOTAL_TIMEOUT_MS = 120_000;

/** Hides the caret, which blinks, and what depends on the date or on the length of prompts. */
const HIDDEN = "* { caret-color: transparent !important; } .figures td, #conversations h3 { visibility: hidden !important; }";

/** Hides in a page what is not the same in each run. */
export function hideChanging(page) {
  return page.evaluate((rules) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rules);
    document.adoptedStyleSheets.push(sheet);
  }, HIDDEN);
}

/** Compares the pictures that `check` takes with those of a browser; `failures` lists what differed. */
export async function comparePictures(page, browser) {
  const folder = new URL(`${browser}/`, FOLDER);
  const kept = new Set(await readdir(folder));
  const failures = [];
  let [remaining, written] = [TOTAL_TIMEOUT_MS, null];
  const check = async (name) => {
    const file = `${name.replaceAll(" ", "-")}.png`;
    if (!kept.delete(file)) return void failures.push(`${name} has no kept picture`);
    const before = PNG.sync.read(await readFile(new URL(file, folder)));
    const started = Date.now();
    for (;;) {
      const picture = await page.screenshot();
      const now = reduce(PNG.sync.read(picture));
      if (isSame(now, before)) return;
      const waited = Date.now() - started;
      if (waited < Math.min(TIMEOUT_MS, remaining)) continue;
      remaining -= waited;
      written ??= await mkdtemp(path.join(tmpdir(), "pictures-"));
      await writeFile(path.join(written, file), picture);
      return void failures.push(`${name}: ${describe(differences(now, before))}: ${path.join(written, file)}`);
    }
  };
  return { check, failures: () => [...failures, ...[...kept].map((file) => `${file} is kept for no state`)] };
}

/** Where cells are, in CSS pixels, and how far the farthest is from the kept one. */
function describe(cells) {
  const range = (side) => {
    const at = cells.map((cell) => cell[side]);
    return `${side} ${Math.min(...at)}–${Math.max(...at) + CELL}`;
  };
  return `${cells.length} cells differ in ${range("x")}, ${range("y")} by at most ${Math.max(...cells.map(({ by }) => by))}`;
}

/** Writes the pictures of a browser that `check` takes, each when it has not changed since the one before it. */
export async function writePictures(page, browser) {
  const folder = new URL(`${browser}/`, FOLDER);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const take = async () => reduce(PNG.sync.read(await page.screenshot()));
  const check = async (name) => {
    let [before, now] = [await take(), await take()];
    while (differences(now, before).length > 0) [before, now] = [now, await take()];
    await writeFile(new URL(`${name.replaceAll(" ", "-")}.png`, folder), PNG.sync.write(now));
  };
  return { check, failures: () => [] };
}
