// What the files of messages need that no browser decides: sizes, names and addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import { hostOf } from "../../../functions/chat/page/src/answer/strings.ts";
import { reducedSize, renamed } from "../../../functions/chat/page/src/files/reduce.ts";
import { safeHref, sourceHref } from "../../../functions/chat/page/src/markdown/links.ts";

test("the longest side of a picture is at most 2048 pixels", () => {
  const sizes = [[4000, 3000], [3000, 4000], [2048, 2048], [10, 20], [100_000, 10]];
  assert.deepEqual(sizes.map(([width, height]) => reducedSize(width, height)), [[2048, 1536], [1536, 2048], [2048, 2048], [10, 20], [2048, 1]]);
});

test("a reduced picture is named after its type", () => {
  assert.equal(renamed("IMG_1.HEIC", "image/jpeg"), "IMG_1.jpg");
  assert.equal(renamed("a.b.png", "image/webp"), "a.b.webp");
  assert.equal(renamed("照片", "image/jpeg"), "照片.jpg");
});

test("only a source can be a passage of a file", () => {
  for (const url of ["attachment:a1", "attachment:a-1_B#page=2", "attachment:a1#line=3-5"]) {
    assert.equal(sourceHref(url), url);
    assert.equal(safeHref(url), null);
  }
  for (const url of ["attachment:", "attachment:a/b", "attachment:a1#x=1", "attachment://evil.example/", "javascript:attachment:a1", "ATTACHMENT:a1"]) assert.equal(sourceHref(url), null, url);
  assert.equal(sourceHref("https://a.example/"), "https://a.example/");
  assert.deepEqual(["attachment:a1#page=2", "attachment:a1#line=3-5"].map(hostOf), ["Page 2", "Lines 3–5"]);
});
