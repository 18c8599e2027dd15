// What the measuring scripts share: a browser page that records frames and long tasks, and the browser's own counters.

import { chromium } from "playwright-core";

import { servePageFromDisk } from "./disk.js";

export const DESKTOP = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

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
    /** Frames and long tasks since the last call. */
    recorded: () =>
      page.evaluate(() => {
        const [frames, long] = [window.frames_ms, window.long_ms];
        [window.frames_ms, window.long_ms] = [[], []];
        return { frames: frames.sort((a, b) => a - b), long };
      }),
    /** The heap in MB, and the number of nodes, after garbage collection. */
    memory: async () => {
      await devtools.send("HeapProfiler.collectGarbage");
      const { JSHeapUsedSize, Nodes } = await counters();
      return { heap: JSHeapUsedSize / 1e6, nodes: Nodes };
    },
    close: () => context.close(),
  };
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
