// Fuzz tests: event streams with any chunking, and Markdown with bounded, safe trees in linear time.
// FUZZ_SECONDS is the duration of each test; FUZZ_SEED is a number (1) or `random`. A failure prints its seed and a minimal text.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../../../functions/chat/page/src/markdown/parser.ts";
import { safeHref } from "../../../functions/chat/page/src/markdown/links.ts";
import { SseParser } from "../../../functions/chat/page/src/api/sse.ts";

const SECONDS = Number(process.env.FUZZ_SECONDS ?? 0.2);
const SEED = process.env.FUZZ_SEED === "random" ? Date.now() % 1_000_000 : Number(process.env.FUZZ_SEED ?? 1);
const MAX_LENGTH = 8 * 1024;
/** The allowed time per text and per character, in ms. */
const TIME_PER_TEXT = 200;
const TIME_PER_CHARACTER = 0.1;

/** A random generator from a seed (mulberry32); `below(n)` returns 0 to n - 1. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return (bound) => (bound > 0 ? next() % bound : 0);
}

function mutate(below, samples, tokens) {
  let text = samples[below(samples.length)];
  for (let changes = below(8); changes >= 0; changes -= 1) {
    const at = below(text.length + 1);
    const end = at + below(24);
    const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
    const token = tokens[below(tokens.length)];
    const times = below(4) === 0 ? Math.ceil(MAX_LENGTH / (part.length || token.length)) : 1 + below(4);
    text = [before + after, before + part.repeat(times) + after, before + token.repeat(times) + part + after, before][below(4)];
    text = text.slice(0, MAX_LENGTH);
  }
  return text;
}

/** The error of a text, or null. */
function errorOf(text, check) {
  for (let attempt = 0; ; attempt += 1) {
    const startedAt = performance.now();
    try {
      check(text);
    } catch (error) {
      return error.message;
    }
    const took = performance.now() - startedAt;
    if (took < TIME_PER_TEXT + TIME_PER_CHARACTER * text.length) return null;
    // A busy machine delays one attempt, not three.
    if (attempt === 2) return `took ${took} ms`;
  }
}

function minimize(text, check) {
  for (let size = Math.ceil(text.length / 2), tries = 0; size > 0 && tries < 2000; ) {
    let shorter = null;
    for (let at = 0; at < text.length && shorter === null; at += size, tries += 1) {
      const without = text.slice(0, at) + text.slice(at + size);
      if (errorOf(without, check)) shorter = without;
    }
    if (shorter === null) size = size === 1 ? 0 : Math.ceil(size / 2);
    else text = shorter;
  }
  return text;
}

function fuzz(name, samples, tokens, check) {
  test(name, { timeout: SECONDS * 1000 + 60_000 }, () => {
    const below = randomNumbers(SEED);
    const end = performance.now() + SECONDS * 1000;
    let inputs = 0;
    for (; performance.now() < end; inputs += 1) {
      const text = mutate(below, samples, tokens);
      if (!errorOf(text, check)) continue;
      const small = minimize(text, check);
      assert.fail(`${errorOf(small, check) ?? errorOf(text, check)}\nseed ${SEED}: ${JSON.stringify(small)}`);
    }
    console.log(`${name}: ${inputs} texts from seed ${SEED}`);
  });
}

/** Splits a text into chunks; the same text gives the same chunks. */
function split(text) {
  const below = randomNumbers([...text].reduce((sum, char) => Math.imul(sum, 31) + char.codePointAt(0), 7));
  const longest = [1, 3, 16, text.length || 1][below(4)];
  const chunks = [];
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + below(longest);
    chunks.push(text.slice(at, end));
    at = end;
  }
  return chunks;
}

fuzz(
  "fuzz: events do not depend on chunk boundaries",
  ["id: t-1\ndata: {}\n\n: x\n\ndata: [DONE]\n\n", "\uFEFFdata: a\r\rdata: b\r\n\r\n", "event: x\ndata\ndata: c\n\n"],
  ["data: ", "data", "id: 1\n", "event: x\r", "\n\n", "\r\n", "\r", ": ", "\0", "\uFEFF", "汉"],
  (text) => {
    const [whole, chunked] = [new SseParser(), new SseParser()];
    assert.deepEqual(split(text).flatMap((chunk) => chunked.push(chunk)), whole.push(text));
  },
);

/** Every token of a text, with the inline ones. */
const tokensOf = (tokens) => tokens.flatMap((token) => [token, ...tokensOf(token.children ?? [])]);

const SAFE = /^(https?:\/\/|mailto:)/i;

fuzz(
  "fuzz: Markdown is bounded and links are safe",
  [
    "# a\n\n- b\n  - c\n\n1. d\n\n> e\n> f\n\n```js\ng\n```\n\n| h | i |\n|---|:-:|\n| j | k |\n\n---\n",
    "a **b _c_ `d`** [e](https://a.example/f) ![g](http://b.example/h \"i\") <j> https://c.example/k, [1]",
    "看**这里**（https://a.example/x），好吗？[^1]\n\n\\* $x$ &amp; javascript:alert(1)",
  ],
  [
    "[", "](", ")", "![", "](javascript:alert(1))", "](data:text/html,x)", "<", ">", "*", "**", "_", "`", "```\n", "~~~\n", "| ", "\n|---|\n",
    "> ", "- ", "1. ", "    ", "\t", "\n", "\n\n", "\\", "&", "#", "https://a.example/", "http://a", "汉", "e\u0301", "\u200b", "[1]", "~~", "$", "$$\n", "\\(", "\\)", "<details>\n", "<u>", "[^1]", "[^1]: ", "[1]: ",
  ],
  (text) => {
    for (const partial of [false, true]) {
      const tokens = tokensOf(parse(text, { partial }));
      assert.ok(tokens.length <= 20 * text.length + 100, `${tokens.length} tokens of ${text.length} characters`);
      for (const token of tokens.filter(({ type }) => type === "link_open" || type === "image")) {
        const target = token.attrGet("href") ?? token.attrGet("src");
        const href = safeHref(target);
        assert.ok(href === null || SAFE.test(href), `a link to ${href}`);
      }
    }
  },
);
