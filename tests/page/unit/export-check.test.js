// When an export is whole.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ExportCheck } from "../../../functions/chat/page/export-check.js";

const WHOLE = '{"kind":"export","owner":"name:阿达"}\n{"kind":"message","content":"\\"kind\\":\\"end\\""}\n{"kind":"end"}\n';

function whole(...pieces) {
  const ending = new ExportCheck();
  for (const piece of pieces) ending.push(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  return ending.isComplete;
}

test("an export is whole when its last line is its end, wherever its bytes are cut", () => {
  const bytes = new TextEncoder().encode(WHOLE);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.equal(whole(bytes.subarray(0, at), bytes.subarray(at)), true, `cut at ${at}`);
    assert.equal(whole(bytes.subarray(0, at)), at === bytes.length, `ended at ${at}`);
  }
  assert.equal(whole(...Array.from(bytes, (byte) => Uint8Array.of(byte))), true);
});

test("an export is not whole that ends in an error, in nothing, or in what no server says", () => {
  const ends = ['{"kind":"error","error":{"code":"storage_busy"}}\n', "", "\n", "<html>\n", "null\n", '"end"\n', "\uFFFD\n"];
  for (const end of ends) assert.equal(whole('{"kind":"export"}\n', end), false, end);
  assert.equal(whole(), false);
});

test("a long last line before the end does not hide it", () => {
  assert.equal(whole(`{"kind":"message","content":"${"字".repeat(5000)}"}\n`, '{"kind":"end"}\n'), true);
  assert.equal(whole('{"kind":"end"}\n', `{"kind":"message","content":"${"字".repeat(5000)}"}\n`), false);
});
