// The fixture of a test in Firefox, which WebDriver BiDi drives: a page, the server, and the server's two endpoints.

import assert from "node:assert/strict";
import { after } from "node:test";

import { animationsEnded } from "./animations.js";
import { launch } from "./launch-firefox.js";
import { startStack } from "./stack.js";

const TIMEOUT_MS = 60_000;

let shared = null;
after(async () => (await shared)?.close());

/**
 * Starts a test's server and opens its page in Firefox; `preferences` start a Firefox of its own.
 *
 * At the end of the test it asserts that there was no error, no violated policy and no request to another origin.
 */
export async function setUp(t, { settings = {}, viewport, preferences } = {}) {
  const [stack, browser] = await Promise.all([startStack(settings), preferences ? launch(preferences) : (shared ??= launch())]);
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  if (viewport) await page.setViewport(viewport);
  const check = await watchPage(page);
  t.after(async () => {
    await check();
    await context.close();
    if (preferences) await browser.close();
    await stack.stop();
  });
  return { page, ...stack };
}

/** Records a page's requests, errors and policy violations. Returns the check of them. */
async function watchPage(page) {
  const [requests, errors] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      console.error(`violated policy: ${violatedDirective} ${blockedURI}`);
    });
  });
  return async () => {
    assert.deepEqual(errors, []);
    assert.deepEqual(requests.filter((url) => !/^(http:\/\/127\.0\.0\.1:\d+\/|data:|about:)/.test(url)), []);
  };
}

/** The element with this role and name; waits for it. */
export const byRole = (page, role, name) => page.waitForSelector(`::-p-aria([name="${name}"][role="${role}"])`);

/** Waits until the first element with this selector has a text that contains or matches `text`. */
export async function waitForText(page, selector, text) {
  const [source, flags] = text instanceof RegExp ? [text.source, text.flags] : [text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), ""];
  const read = (selector, source, flags) =>
    [...document.querySelectorAll(selector)].some((node) => new RegExp(source, flags).test(node.innerText));
  await page.waitForFunction(read, {}, selector, source, flags);
}

/** Types a message and sends it with Enter. */
export async function sendMessage(page, text) {
  await page.waitForSelector("#message");
  await page.type("#message", text);
  await page.keyboard.press("Enter");
}

/** Sends a message, answers it without a search, and waits for the end of the turn. */
export async function exchange({ page, model }, message, answer) {
  await sendMessage(page, message);
  const reply = await model.next();
  reply.sendText(answer);
  reply.end();
  await page.waitForSelector(".answer:last-of-type .message-actions");
  await animationsEnded(page);
}
