// The parts in which a file of conversations is sent.

import assert from "node:assert/strict";
import { test } from "node:test";

const { batches, titleOf } = await import("../../../functions/chat/page/src/library/batches.ts");

const sizes = (file) => batches(file).map(({ first, conversations }) => [first, conversations.length]);

test("a file is split by count and by size, in its order", () => {
  assert.deepEqual(sizes([]), []);
  assert.deepEqual(sizes({ title: "One" }), [[0, 1]]);
  assert.deepEqual(sizes(Array(51).fill({})), [[0, 50], [50, 1]]);
  const large = { title: "x".repeat(600_000) };
  assert.deepEqual(sizes([large, large, {}, { title: "y".repeat(2_000_000) }, {}]), [[0, 1], [1, 2], [3, 1], [4, 1]]);
  const many = Array.from({ length: 120 }, (_, n) => n);
  assert.deepEqual(batches(many).flatMap(({ conversations }) => conversations), many);
});

test("a title is read from both formats", () => {
  assert.deepEqual([{ title: "A" }, { conversation: { title: "B" } }, { title: 7 }, null, "text"].map(titleOf), ["A", "B", "", "", ""]);
});
