// Hostile texts, whole and cut at every point: what the Markdown view makes of them has no effect as live markup.

import assert from "node:assert/strict";
import { test } from "node:test";

import { HOSTILE_TEXTS } from "../support/hostile.js";
import { openMarkdown } from "../support/markdown.js";

/** Runs in the page, which has no content security policy: shows each result as live markup and returns what is not allowed. */
function findEffects(texts) {
  const TAGS = /^(a|blockquote|br|button|code|del|details|div|em|h[3-6]|hr|kbd|li|mark|ol|p|pre|s|section|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)$/;
  const ATTRIBUTES = /^(href|target|rel|title|class|start|role|tabindex|type|id|open|align|aria-[a-z]+|data-[a-z]+)$/;
  const found = new Set();
  const stage = document.body.appendChild(document.createElement("div"));
  const inspect = (html, text) => {
    stage.innerHTML = html;
    for (const node of stage.querySelectorAll("*")) {
      if (!TAGS.test(node.localName)) found.add(`<${node.localName}> of ${text}`);
      for (const { name } of node.attributes) if (!ATTRIBUTES.test(name)) found.add(`${name}= of ${text}`);
      if (node.hasAttribute("href") && !/^(https?|mailto):/i.test(node.getAttribute("href"))) found.add(`${node.getAttribute("href")} of ${text}`);
    }
  };
  let renderings = 0;
  for (const text of texts) {
    inspect(window.render(text).html, text);
    for (let cut = 1; cut < text.length; cut += 1) {
      const { html, streamed } = window.render(text, [text.slice(0, cut), text.slice(cut)]);
      inspect(streamed, text);
      inspect(html, text);
      // What is on the screen before the rest arrives.
      inspect(window.render(text.slice(0, cut), [text.slice(0, cut)]).streamed, text);
      renderings += 2;
    }
  }
  stage.remove();
  return { found: [...found], renderings, owned: window.owned ?? null };
}

test("f138_ hostile texts have no effect, cut at every point", { timeout: 300_000 }, async () => {
  const page = await openMarkdown();
  const effects = [];
  page.on("dialog", (dialog) => {
    effects.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    // The parts for formulas and code, which this blank page does not have.
    if (!request.url().endsWith("/absent.js")) effects.push(request.url());
  });
  page.on("pageerror", (error) => effects.push(String(error)));
  const { found, renderings, owned } = await page.evaluate(findEffects, HOSTILE_TEXTS);
  // A handler would run in a later task.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  console.log(`hostile texts: ${HOSTILE_TEXTS.length}, renderings: ${renderings}`);
  assert.deepEqual(found, []);
  assert.equal(owned, null);
  assert.equal(await page.evaluate(() => window.owned ?? null), null);
  assert.deepEqual(effects, []);
});
