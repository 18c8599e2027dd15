// The fixture of a browser test: a browser page, the server, and the server's two endpoints; each test has its own.

import assert from "node:assert/strict";
import { after } from "node:test";

import { chromium } from "playwright-core";

import { animationsEnded } from "./animations.js";
import { servePageFromDisk } from "./disk.js";
import { startStack } from "./stack.js";

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  // A page from disk has no address, so Chromium would not let it connect to an identity provider on loopback.
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-features=LocalNetworkAccessChecks"],
});
after(() => browser.close());

/**
 * Starts a test's server and opens its browser page.
 *
 * At the end of the test it asserts three properties: no request to another origin, no violated policy, no error.
 */
export async function setUp(t, { context: options = {}, settings = {}, fromServer = false } = {}) {
  const stack = await startStack(settings);
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, locale: "en-GB", ...options });
  context.setDefaultTimeout(Number(process.env.PAGE_TIMEOUT_MS ?? 60_000));
  if (process.env.PAGE_FROM_DISK && !fromServer) await servePageFromDisk(context);
  const watch = watchContext(context);
  t.after(async () => {
    await context.close();
    await stack.stop();
    watch.check();
  });
  const page = await context.newPage();
  return { page, context, watch, ...stack };
}

/** Records the requests and the errors of a context's pages. */
function watchContext(context) {
  const requests = [];
  const errors = [];
  context.on("request", (request) => requests.push(request.url()));
  context.on("weberror", (error) => errors.push(String(error.error())));
  context.on("console", (message) => {
    // The browser itself reports each failed request, which many tests cause.
    if (message.type() === "error" && !/^Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  const check = () => {
    assert.deepEqual(errors, []);
    assert.deepEqual(
      requests.filter((url) => !/^(http:\/\/127\.0\.0\.1:\d+\/|data:|blob:)/.test(url)),
      [],
    );
  };
  return { requests, errors, check };
}

/** The message box. */
export const messageBox = (page) => page.getByRole("textbox", { name: "Message" });

/** Types a message and sends it by keyboard; with a touch screen, Enter alone makes a new line. */
export async function sendMessage(page, text) {
  const touch = await page.evaluate(() => matchMedia("(pointer: coarse)").matches);
  await messageBox(page).fill(text);
  await messageBox(page).press(touch ? "Control+Enter" : "Enter");
}

/** Sends a message, answers it from the model without a search, and waits for the end of the turn and of what moves. */
export async function exchange({ page, model }, message, answer) {
  await sendMessage(page, message);
  const reply = await model.next();
  reply.sendText(answer);
  reply.end();
  // The footer's copy button appears with the end; a code block's button appears earlier.
  await lastAnswer(page).locator(".answer-footer").getByRole("button", { name: "Copy", exact: true }).waitFor();
  await animationsEnded(page);
}

/** The newest answer on the page. */
export const lastAnswer = (page) => page.locator(".answer").last();

/** The newest text of the newest answer. */
export const prose = (page) => lastAnswer(page).locator(".prose").last();

/** Opens the sources of the newest answer. */
export const openSources = (page) => lastAnswer(page).locator(".sources-toggle").click();

/** Waits until a locator's text equals `text`. */
export async function waitForText(locator, text) {
  await locator.filter({ hasText: new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}\\s*$`) }).waitFor();
}
