// What a test of the page stands on: a browser, the server, and the two endpoints behind it; all made anew for each test.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after } from "node:test";

import { chromium } from "playwright-core";

import { startServer } from "./server.js";
import { openModel, openSearch } from "./wire.js";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
after(() => browser.close());

/** A test's own server and page. Ending the test checks that the page kept to itself: no request to anywhere else, no violated policy, no error. */
export async function stage(t, { context: options = {}, settings = {} } = {}) {
  const data = await mkdtemp(path.join(tmpdir(), "page-"));
  const [model, search] = await Promise.all([openModel(), openSearch()]);
  const environment = {
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_MODEL: "test-model",
    OPENAI_API_KEY: "model-key",
    TAVILY_BASE_URL: search.url,
    TAVILY_API_KEY: "search-key",
    ...settings,
  };
  let server = await startServer({ data, settings: environment });
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, locale: "en-GB", ...options });
  context.setDefaultTimeout(20_000);
  const watch = watched(context);
  t.after(async () => {
    await context.close();
    model.close();
    search.close();
    await server.stop();
    await rm(data, { recursive: true, force: true });
    watch.check();
  });
  const restart = async () => {
    await server.stop();
    server = await startServer({ data, settings: environment, port: server.port });
  };
  const page = await context.newPage();
  return { page, context, model, search, watch, restart, url: server.url, server: () => server };
}

/** Records what the pages of a context ask for and what goes wrong in them. */
function watched(context) {
  const requests = [];
  const faults = [];
  context.on("request", (request) => requests.push(request.url()));
  context.on("weberror", (error) => faults.push(String(error.error())));
  context.on("console", (message) => {
    if (/Content Security Policy|Refused to/i.test(message.text())) faults.push(message.text());
  });
  const check = () => {
    assert.deepEqual(faults, []);
    assert.deepEqual(
      requests.filter((url) => !/^(http:\/\/127\.0\.0\.1:\d+\/|data:)/.test(url)),
      [],
    );
  };
  return { requests, faults, check };
}

/** Writes a message and sends it with Enter. */
export async function ask(page, text) {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill(text);
  await box.press("Enter");
}

/** Asks, and plays a model that answers at once without a search. */
export async function askAndAnswer({ page, model }, question, answer) {
  await ask(page, question);
  const call = await model.next();
  call.say(answer);
  call.end();
  // Not just any button to copy: a block of code has one too, while it is still being written.
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy", exact: true }).waitFor();
}

/** The newest answer on the page. */
export const lastAnswer = (page) => page.locator(".answer").last();

/** The text of the newest answer, without anything around it. */
export const prose = (page) => lastAnswer(page).locator(".prose");

/** Waits until a locator's text is exactly this. */
export async function reads(locator, text) {
  await locator.filter({ hasText: new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*$`) }).waitFor();
}
