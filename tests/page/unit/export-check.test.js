// The completeness check of an export.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ExportCheck } from "../../../functions/chat/page/src/settings/export-check.ts";

const EXPORT = '{"kind":"export","owner":"name:阿达"}\n{"kind":"message","content":"\\"kind\\":\\"end\\""}\n{"kind":"end"}\n';

function isComplete(...chunks) {
  const check = new ExportCheck();
  for (const chunk of chunks) check.push(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  return check.isComplete;
}

test("an export with an end line is complete", () => {
  const bytes = new TextEncoder().encode(EXPORT);
  for (let at = 0; at <= bytes.length; at += 1) {
    assert.equal(isComplete(bytes.subarray(0, at), bytes.subarray(at)), true, `split at ${at}`);
    assert.equal(isComplete(bytes.subarray(0, at)), at === bytes.length, `ends at ${at}`);
  }
  assert.equal(isComplete(...Array.from(bytes, (byte) => Uint8Array.of(byte))), true);
});

test("an export without an end line is incomplete", () => {
  const ends = ['{"kind":"error","error":{"code":"storage_busy"}}\n', "", "\n", "<html>\n", "null\n", '"end"\n', "\uFFFD\n"];
  for (const end of ends) assert.equal(isComplete('{"kind":"export"}\n', end), false, end);
  assert.equal(isComplete(), false);
});

test("a long line before the end is allowed", () => {
  assert.equal(isComplete(`{"kind":"message","content":"${"字".repeat(5000)}"}\n`, '{"kind":"end"}\n'), true);
  assert.equal(isComplete('{"kind":"end"}\n', `{"kind":"message","content":"${"字".repeat(5000)}"}\n`), false);
});
