// Measures the page with 10,000 conversations and with a conversation of 10,000 messages:
// `node --import ./support/modules.mjs sizes.mjs [name…]`. Both are imported through the API first, which takes minutes with
// a debug build; a folder in `SIZES_DATA` keeps them for the next run.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { conversation, DESKTOP, importAll, launch, longTasks, openProbe, PHONE, scrollUntil } from "./support/measure.js";
import { startServer } from "./support/server.js";

const CONVERSATIONS = Number(process.env.CONVERSATIONS ?? 10_000);
const MESSAGES = Number(process.env.MESSAGES ?? 10_000);

async function fill(url) {
  const at = (n) => new Date(Date.now() - (CONVERSATIONS - n) * 3_600_000).toISOString();
  for (let from = 0; from < CONVERSATIONS; from += 1000) {
    await importAll(url, Array.from({ length: Math.min(1000, CONVERSATIONS - from) }, (_, n) => conversation(from + n, 2, at(from + n))));
  }
  const [long] = await importAll(url, [conversation(CONVERSATIONS, MESSAGES, at(CONVERSATIONS))]);
  return long;
}

/** Prints the time of an action, and the long tasks meanwhile. */
async function timed(probe, name, action) {
  await probe.recorded().catch(() => null);
  const startedAt = performance.now();
  const count = await action();
  const wall = Math.round(performance.now() - startedAt);
  await probe.page.waitForTimeout(300);
  console.log(`| ${name}${count ? ` ${count}` : ""} | ${wall} ms | ${longTasks((await probe.recorded()).long)} |`);
}

/** The longest time from a key to the frame after it, of 12 keys. */
async function typing(page) {
  await page.locator("#message").focus();
  await page.evaluate(() => {
    window.keys_ms = [];
    document.getElementById("message").addEventListener("keydown", () => {
      const startedAt = performance.now();
      requestAnimationFrame(() => setTimeout(() => window.keys_ms.push(Math.round(performance.now() - startedAt))));
    });
  });
  await page.keyboard.type("twelve chars", { delay: 60 });
  await page.waitForTimeout(200);
  const keys = await page.evaluate(() => window.keys_ms.sort((a, b) => a - b));
  return `median ${keys[6]}, max ${keys.at(-1)} ms`;
}

async function memory(probe) {
  const { heap, nodes } = await probe.memory();
  console.log(`| memory | ${heap.toFixed(1)} MB | ${nodes} nodes |`);
}

async function measure(browser, url, long, { device, slowdown = 1 }) {
  const probe = await openProbe(browser, device);
  const { page } = probe;
  const rows = "#conversations a[data-focus]";
  await probe.slowDown(slowdown);
  await timed(probe, "first visit, until the list is shown", () => page.goto(url).then(() => page.locator(rows).first().waitFor({ state: "attached" })));
  await memory(probe);
  if (device === PHONE) await page.locator("#toggle-list").click();
  for (const count of [CONVERSATIONS / 5, CONVERSATIONS]) {
    await timed(probe, "list, scrolled to its end until rows", () => scrollUntil(page, "#conversations", { selector: rows, count, down: true }));
  }
  await memory(probe);
  await timed(probe, "search in the list", async () => {
    await page.locator("#search").fill(`term${CONVERSATIONS - 3}`);
    await page.locator(".matches").first().waitFor({ timeout: 60_000 });
  });
  await timed(probe, "end of the search", async () => {
    await page.locator("#search").fill("");
    await page.waitForFunction(() => !document.querySelector(".matches"));
  });
  if (device === PHONE) await page.locator("#close-list").click();
  console.log(`| keys with the whole list: ${await typing(page)} | | |`);
  await timed(probe, "open the long conversation", async () => {
    await page.evaluate((id) => (location.hash = `#/c/${id}`), long);
    await page.locator(".answer .message-actions").first().waitFor({ state: "attached" });
  });
  console.log(`| keys: ${await typing(page)} | | |`);
  await timed(probe, "scrolled upwards until messages", () => scrollUntil(page, "#scroller", { selector: ".turn", count: MESSAGES / 5, down: false }));
  console.log(`| keys: ${await typing(page)} | | |`);
  await memory(probe);
  await probe.close();
}

const kept = process.env.SIZES_DATA;
const data = kept ?? (await mkdtemp(path.join(tmpdir(), "sizes-")));
const server = await startServer({ data, settings: { TITLE_MODEL: "none" } });
const browser = await launch();
const startedAt = performance.now();
const newest = (await (await fetch(`${server.url}/api/conversations?limit=1`)).json()).conversations[0]?.id;
const long = newest ?? (await fill(server.url));
console.error(`imported in ${Math.round((performance.now() - startedAt) / 1000)} s`);
for (const [name, options] of Object.entries({ desktop: { device: DESKTOP }, "phone, CPU ÷4": { device: PHONE, slowdown: 4 } })) {
  if (process.argv.length > 2 && !process.argv.slice(2).some((wanted) => name.includes(wanted))) continue;
  console.log(`| ${name} | time | long tasks |\n|---|---|---|`);
  await measure(browser, server.url, long, options);
}
await browser.close();
await server.stop();
if (!kept) await rm(data, { recursive: true, force: true });
