// Measures how the page renders streams: `node --import ./support/modules.mjs streaming.mjs [name…]`, on a machine at rest.
// A scripted model sends a text in pieces at a rate. Per case it prints the time to the end of the answer, the work of the
// main thread, tasks of more than 50 ms, the intervals of frames and the heap after garbage collection. BROWSER=firefox
// measures in Firefox, with the page of the server.

import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { launch as launchFirefox } from "./support/launch-firefox.js";
import { conversation, DESKTOP, importAll, launch, longTasks, openFirefoxProbe, openProbe, PHONE, scrollUntil } from "./support/measure.js";
import { startServer } from "./support/server.js";

const TEXT = "the heat pump moves warmth from the cold air outside into the house and needs little power for it ".split(" ");
const sentence = (count) => Array.from({ length: count }, (_, n) => `${TEXT[n % TEXT.length]}${n % 17 === 16 ? ".\n\n" : n % 9 === 8 ? ", **really**" : ""} `);
const LONG = sentence(50_000);
const MIXED = "| a | b | c |\n|---|--:|---|\n| one | 2 | *three* |\n| four | 5 | `six` |\n\n```js\nconst heat = (outside) => outside * 3;\nlet a = 1;\n```\n\n- one\n- **two**\n  1. three\n\n";

/** Cuts a text into tokens of about four characters. */
const tokens = (text, count) => (text.repeat(Math.ceil((count * 4) / text.length)).match(/[\s\S]{1,4}/g) ?? []).slice(0, count);

const CASES = {
  prose: { pieces: sentence(2000), rate: 200, device: DESKTOP },
  "prose, phone, CPU ÷4": { pieces: sentence(2000), rate: 200, device: PHONE, slowdown: 4 },
  mixed: { pieces: tokens(MIXED, 1500), rate: 200, device: DESKTOP },
  "mixed, phone, CPU ÷4": { pieces: tokens(MIXED, 1500), rate: 200, device: PHONE, slowdown: 4 },
  "50,000 tokens, 1,000/s": { pieces: Array.from({ length: 25_000 }, (_, n) => LONG.slice(2 * n, 2 * n + 2).join("")), rate: 1000, device: DESKTOP },
  "100,000 tokens, 4,000/s, after 500 messages": { pieces: Array.from({ length: 25_000 }, (_, n) => LONG.slice(2 * n, 2 * n + 2).join("").repeat(2)), rate: 1000, device: DESKTOP, history: 500 },
  "50,000 tokens at once": { pieces: [LONG.join("")], rate: 1, device: DESKTOP },
  "200 kB paragraph, 1,000/s": { pieces: Array.from({ length: 16_000 }, () => "a word or two"), rate: 1000, device: DESKTOP },
  "327 kB code, 1,000/s, phone, CPU ÷4": { pieces: ["```js\n", ...Array.from({ length: 11_000 }, (_, n) => `let value${n % 90} = call(${n});\n`)], rate: 1000, device: PHONE, slowdown: 4 },
  "table of 2,000 rows, 500/s": { pieces: ["| a | b | c |\n|---|---|---|\n", ...Array.from({ length: 2000 }, (_, n) => [`| row ${n} `, "| some text ", "| more ", "|\n"]).flat()], rate: 500, device: DESKTOP },
};

/** A model that sends the pieces of the current case at its rate; pieces that are late go out together. */
async function openScriptedModel() {
  const model = { pieces: [], rate: 1 };
  const chunk = (delta, finish = null) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = createServer(async (incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const { pieces, rate } = model;
    const startedAt = performance.now();
    for (let sent = 0; sent < pieces.length; ) {
      const due = Math.min(pieces.length, 1 + Math.floor(((performance.now() - startedAt) / 1000) * rate));
      if (due > sent) outgoing.write(pieces.slice(sent, due).map((content) => chunk({ content })).join(""));
      sent = Math.max(sent, due);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    outgoing.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(model, { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() });
}

/** The work of the main thread between two readings of the browser's counters, in seconds. */
function work(before, after) {
  const { threads } = after;
  // Of the processes of Firefox, the page's is the one that worked most.
  if (threads) return { busy: Math.max(...Object.entries(threads).map(([id, seconds]) => seconds - (before.threads[id] ?? 0))) };
  return { busy: after.TaskDuration - before.TaskDuration, script: after.ScriptDuration - before.ScriptDuration };
}

async function measure(probe, url, { slowdown = 1, history = 0 }) {
  const { page, counters, slowDown, waitForCount, recorded, memory, close } = probe;
  const [id] = history ? await importAll(url, [conversation(1, history, new Date().toISOString())]) : [];
  await page.goto(id ? `${url}/#/c/${id}` : url);
  if (history) await waitForCount(".turn", 1);
  const shown = history ? await scrollUntil(page, "#scroller", { selector: ".turn", count: history, down: false }) : 0;
  await page.locator("#message").fill("Go.");
  await slowDown?.(slowdown);
  await recorded();
  const [before, startedAt] = [await counters(), performance.now()];
  await page.locator("#send").click();
  await waitForCount(".answer-footer .message-actions", shown ? shown / 2 + 1 : 1);
  const wall = (performance.now() - startedAt) / 1000;
  const { busy, script } = work(before, await counters());
  const { frames, long } = await recorded();
  const heap = (await memory?.())?.heap;
  await close();
  const at = (part) => Math.round(frames[Math.floor(frames.length * part)] ?? 0);
  return [
    `${wall.toFixed(1)} s`,
    `${busy.toFixed(1)} s = ${Math.round((100 * busy) / wall)} %${script === undefined ? "" : ` (script ${script.toFixed(1)} s)`}`,
    memory ? longTasks(long) : "",
    `${at(0.95)} / ${at(0.99)} ms`,
    memory ? `${heap.toFixed(0)} MB` : "",
  ];
}

const data = await mkdtemp(path.join(tmpdir(), "streaming-"));
const model = await openScriptedModel();
const settings = { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: "scripted", OPENAI_API_KEY: "k", TITLE_MODEL: "none", MAX_OUTPUT_TOKENS: "200000" };
const server = await startServer({ data, settings });
const inFirefox = process.env.BROWSER === "firefox";
const browser = await (inFirefox ? launchFirefox() : launch());
const open = inFirefox ? openFirefoxProbe : openProbe;
console.log("| case | time | main thread busy | long tasks | frames p95/p99 | heap |\n|---|---|---|---|---|---|");
for (const [name, one] of Object.entries(CASES)) {
  if (process.argv.length > 2 && !process.argv.slice(2).some((wanted) => name.includes(wanted))) continue;
  if (inFirefox && one.slowdown) continue;
  Object.assign(model, { pieces: one.pieces, rate: one.rate });
  console.log(`| ${name} | ${(await measure(await open(browser, one.device), server.url, one)).join(" | ")} |`);
}
await browser.close();
await server.stop();
model.close();
await rm(data, { recursive: true, force: true });
