// The sources of a stored answer by call: certain ones only.

import assert from "node:assert/strict";
import { test } from "node:test";

import { sourcesByCall } from "../../../functions/chat/page/src/answer/stored-sources.ts";

const sources = (...names) => names.map((name, n) => ({ index: n + 1, title: name, url: `https://${name}.example/` }));
const search = (id, summary, at) => ({ id, name: "search_web", arguments: { query: id }, ok: true, summary, ...(at !== undefined && { position: { text: at, thinking: 0 } }) });
const read = (id, name, at) => ({ id, name: "read_url", arguments: { url: `https://${name}.example/` }, ok: true, summary: "1,200 characters", position: { text: at, thinking: 0 } });

/** The titles of the sources by call. */
const titles = (message) => Object.fromEntries([...sourcesByCall(message)].map(([id, found]) => [id, found.map(({ title }) => title)]));

test("calls of one round after another have their own sources", () => {
  const toolCalls = [search("one", "2 results", 0), search("none", "no results", 3), search("two", "1 of 4 results", 9)];
  assert.deepEqual(titles({ toolCalls, sources: sources("a", "b", "c") }), { one: ["a", "b"], two: ["c"] });
});

test("a page that was read is a source of its call, new or found before", () => {
  const toolCalls = [search("one", "2 results", 0), read("again", "b", 4), read("new", "c", 8)];
  assert.deepEqual(titles({ toolCalls, sources: sources("a", "b", "c") }), { one: ["a", "b"], again: ["b"], new: ["c"] });
});

test("calls of the same round have no certain order", () => {
  const toolCalls = [search("one", "1 result", 0), search("two", "2 results", 0), search("three", "1 result", 5)];
  assert.deepEqual(titles({ toolCalls, sources: sources("a", "b", "c", "d") }), { one: [], two: [], three: ["d"] });
});

test("other counts than the sources assign nothing", () => {
  assert.deepEqual(titles({ toolCalls: [search("one", "3 results", 0)], sources: sources("a", "b") }), {}, "one was found twice");
  assert.deepEqual(titles({ toolCalls: [search("one", "1 result", 0)], sources: sources("a", "earlier") }), {}, "cited from an earlier answer");
  assert.deepEqual(titles({ toolCalls: [], sources: sources("a") }), {});
  assert.deepEqual(titles({}), {});
});
