// What the measuring scripts share: a browser page that records frames and long tasks, and the browser's own counters.

import { readdir, readFile } from "node:fs/promises";

import { chromium } from "playwright-core";

import { servePageFromDisk } from "./disk.js";

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** Timeout of the end of an answer. */
const ANSWER_MS = 180_000;

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** Runs in the page before its scripts: records frames and long tasks. */
function record() {
  window.frames_ms = [];
  window.long_ms = [];
  new PerformanceObserver((list) => window.long_ms.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: "longtask" });
  let last = performance.now();
  const frame = (now) => {
    window.frames_ms.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

/** Returns frames and long tasks since the last call; runs in the page. */
function takeRecords() {
  const [frames, long] = [window.frames_ms, window.long_ms];
  [window.frames_ms, window.long_ms] = [[], []];
  return { frames: frames.sort((a, b) => a - b), long };
}

/** Opens a browser page with the built page from disk, or with `PAGE_FROM_SERVER=1` that of the server. */
export async function openProbe(browser, device) {
  const context = await browser.newContext({ ...device, locale: "en-GB" });
  if (!process.env.PAGE_FROM_SERVER) await servePageFromDisk(context);
  await context.addInitScript(record);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable");
  const counters = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  return {
    page,
    counters,
    slowDown: (rate) => devtools.send("Emulation.setCPUThrottlingRate", { rate }),
    waitForCount: (selector, count) => page.locator(selector).nth(count - 1).waitFor({ timeout: ANSWER_MS }),
    recorded: () => page.evaluate(takeRecords),
    /** The heap in MB, and the number of nodes, after garbage collection. */
    memory: async () => {
      await devtools.send("HeapProfiler.collectGarbage");
      const { JSHeapUsedSize, Nodes } = await counters();
      return { heap: JSHeapUsedSize / 1e6, nodes: Nodes };
    },
    close: () => context.close(),
  };
}

/**
 * Opens a page of Firefox with the page of the server. Firefox has no counters, so the work of its main thread is the processor
 * time that Linux counts for that thread: what else the thread does is in it. It has no slower processor and no long tasks.
 */
export async function openFirefoxProbe(browser, { viewport }) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  await page.setViewport(viewport);
  await page.evaluateOnNewDocument(record);
  return {
    page,
    counters: async () => ({ threads: await mainThreads(browser.process().pid) }),
    waitForCount: (selector, count) =>
      page.waitForFunction((selector, count) => document.querySelectorAll(selector).length >= count, { timeout: ANSWER_MS }, selector, count),
    recorded: () => page.evaluate(takeRecords),
    close: () => context.close(),
  };
}

/** Seconds of processor time of the main thread of each process that a process started, and they started. */
async function mainThreads(parent) {
  const read = (path) => readFile(path, "utf8").catch(() => "");
  const threads = await readdir(`/proc/${parent}/task`).catch(() => []);
  const started = await Promise.all(threads.map((thread) => read(`/proc/${parent}/task/${thread}/children`)));
  const all = await Promise.all(started.join(" ").split(/\s+/).filter(Boolean).map(mainThreads));
  // The second field, a name in parentheses, may have spaces; user and system time are the fields 14 and 15, in hundredths of a
  // second (proc_pid_stat(5), 2026-11-28).
  const fields = (await read(`/proc/${parent}/task/${parent}/stat`)).replace(/^.*\) /s, "").split(" ");
  return Object.assign({ [parent]: (Number(fields[11]) + Number(fields[12])) / 100 || 0 }, ...all);
}

/** Long tasks in short. */
export const longTasks = (long) => `${long.length}, max ${Math.max(0, ...long)} ms`;

const ANSWER = "It depends on the **climate**.\n\n- one\n- two, with `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAnd a last paragraph.";

/** A document of the API's export. */
export function conversation(n, messages, createdAt) {
  const content = (at) => (at % 2 ? ANSWER : `Question ${at / 2 + 1} of ${n}: where is term${n}?`);
  const all = Array.from({ length: messages }, (_, at) => ({ id: `m${at}`, parentId: at ? `m${at - 1}` : null, role: at % 2 ? "assistant" : "user", content: content(at), sources: [], calls: [], model: "", status: "complete", createdAt }));
  return { version: 1, conversation: { id: `c${n}`, title: `Conversation number ${n}`, createdAt, updatedAt: createdAt }, messages: all, currentId: `m${messages - 1}` };
}

/** Imports documents; returns the ids of their conversations. */
export async function importAll(url, documents) {
  const response = await fetch(`${url}/api/conversations/import`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(documents) });
  const { imported, skipped } = await response.json();
  if (imported?.length !== documents.length) throw new Error(`${response.status}: ${JSON.stringify(skipped)}`);
  return imported;
}

/** Scrolls an element until `selector` matches `count` elements or nothing more comes. */
export const scrollUntil = (page, scroller, { selector, count, down }) =>
  page.evaluate(
    async ({ scroller, selector, count, down }) => {
      const box = document.querySelector(scroller);
      const shown = () => document.querySelectorAll(selector).length;
      const endAt = performance.now() + 240_000;
      while (shown() < count && performance.now() < endAt) {
        box.scrollTop = down ? box.scrollHeight : 0;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      return shown();
    },
    { scroller, selector, count, down },
  );
