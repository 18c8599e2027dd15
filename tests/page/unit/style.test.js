// The style chooses from its tokens: three radii, sizes by name, two weights, distances on a scale, colours in one file.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";

const FOLDER = new URL("../../../functions/chat/page/src/style/", import.meta.url);

const TOKENS = "tokens.css";

/** The declarations of all files but the tokens, as [file, property, value]. */
async function declarations() {
  const names = (await readdir(FOLDER)).filter((name) => name !== TOKENS);
  const texts = await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, FOLDER), "utf8")]));
  return texts.flatMap(([name, text]) => [...text.matchAll(/([a-z-]+): ([^;{}]+);/g)].map(([, property, value]) => [name, property, value]));
}

/** The declarations of properties that have another value. */
const others = async (properties, allowed) => (await declarations()).filter(([, property, value]) => properties.test(property) && !allowed.test(value)).map((found) => found.join(": "));

test("corners have one of three radii", async () => {
  const radius = "(var\\(--round(-s|-l)?\\)|calc\\(var\\(--round-s\\) / 2\\)|50%|999px|0)";
  assert.deepEqual(await others(/^border-radius$/, new RegExp(`^${radius}( ${radius})*$`)), []);
  const tokens = await readFile(new URL(TOKENS, FOLDER), "utf8");
  assert.equal(tokens.match(/--round[^:]*:/g).length, 3);
});

test("texts have a named size, or one relative to the text around them", async () => {
  assert.deepEqual(await others(/^font-size$/, /^(var\(--(text|title)-[sml]\)|[\d.]+em|inherit|0|[\d.]+pt|clamp\(.*\))$/), []);
});

test("texts have one of two weights", async () => {
  assert.deepEqual(await others(/^font-weight$/, /^(400|600)$/), []);
});

test("distances are on a scale of four pixels", async () => {
  const found = (await declarations()).filter(([name, property]) => name !== "print.css" && /^((row-|column-)?gap|padding|margin)/.test(property));
  const odd = found.flatMap(([name, property, value]) => [...value.matchAll(/([\d.]+)rem/g)].filter(([, rem]) => ![0, 2].includes((rem * 16) % 4)).map(() => `${name} ${property}: ${value}`));
  assert.deepEqual(odd, []);
});

test("colours are in one file, those of code in another", async () => {
  const found = (await declarations()).filter(([name, , value]) => !["code.css", "print.css"].includes(name) && /#[\da-f]{3,8}\b/i.test(value.replaceAll("#0000", "")));
  assert.deepEqual(found.map((one) => one.join(": ")), []);
});
