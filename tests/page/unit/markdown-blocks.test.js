// The block parser: texts and their trees.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseBlocks } from "../../../functions/chat/page/markdown-blocks.js";

const p = (text) => ({ type: "paragraph", text });
const h = (level, text) => ({ type: "heading", level, text });
const code = (text, language = "", closed = true) => ({ type: "code", language, text, closed });
const quote = (...blocks) => ({ type: "quote", blocks });
const ul = (...items) => ({ type: "list", ordered: false, start: 0, loose: false, items });
const ol = (start, ...items) => ({ type: "list", ordered: true, start, loose: false, items });
const loose = (list) => ({ ...list, loose: true });
const rule = { type: "rule" };

/** The tree without the line numbers. */
function tree(text, partial) {
  return JSON.parse(JSON.stringify(parseBlocks(text, partial), (key, value) => (key === "line" ? undefined : value)));
}

function table(rows, partial = false) {
  for (const [text, ...expected] of rows) {
    test(`${partial ? "unfinished: " : ""}${JSON.stringify(text)}`, () =>
      assert.deepEqual(tree(text, partial), expected));
  }
}

table([
  [""],
  [" \n\t\n"],
  ["a\nb\n\nc", p("a\nb"), p("c")],
  ["# a\n## b ##\n### c#\n#d\n####### e\n#", h(1, "a"), h(2, "b"), h(3, "c#"), p("#d\n####### e"), h(1, "")],
  ["a\n# b\nc", p("a"), h(1, "b"), p("c")],
  ["a\n---\nb\n***\n_ _ _", p("a"), rule, p("b"), rule, rule],
  ["- - -\n--", rule, p("--")],
]);

table([
  ["```js\nlet a = `b`;\n\n# c\n```\nd", code("let a = `b`;\n\n# c", "js"), p("d")],
  ["~~~\n```\n~~~", code("```")],
  ["````\n```\n````", code("```")],
  ["```\na", code("a", "", false)],
  ["a\n```\nb\n```", p("a"), code("b")],
  ["``` a` b", p("``` a` b")],
  ["  ```\n  a\n    b\n  ```", code("a\n  b")],
  ['```c++ title="x"\n```', code("", "c++")],
  ['<div onclick="x">\n<script>a</script>\n</div>', p('<div onclick="x">\n<script>a</script>\n</div>')],
]);

table([
  ["> a\n> b\n>\n> - c", quote(p("a\nb"), ul([p("c")]))],
  ["> a\nb", quote(p("a")), p("b")],
  ["> > a", quote(quote(p("a")))],
]);

table([
  ["- a\n- b", ul([p("a")], [p("b")])],
  ["- a\n\n- b", loose(ul([p("a")], [p("b")]))],
  ["- a\n\n  b\n- c", loose(ul([p("a"), p("b")], [p("c")]))],
  ["- a\n  - b\n    - c\n- d", ul([p("a"), ul([p("b"), ul([p("c")])])], [p("d")])],
  ["1. a\n  - b\n2. c", ol(1, [p("a"), ul([p("b")])], [p("c")])],
  ["1. a\n   - b\n\n     c", ol(1, [p("a"), loose(ul([p("b"), p("c")]))])],
  ["7) a\n8) b", ol(7, [p("a")], [p("b")])],
  ["- a\n* b\n1. c", ul([p("a")]), ul([p("b")]), ol(1, [p("c")])],
  ["- a\nb\n\nc", ul([p("a\nb")]), p("c")],
  ["a\n- b", p("a"), ul([p("b")])],
  ["a\n2. b\n1. c", p("a\n2. b"), ol(1, [p("c")])],
  ["a\n-\nb", p("a\n-\nb")],
  ["- ```\n  a\n\n  b\n  ```\nc", ul([code("a\n\nb")]), p("c")],
  ["1. a\n```\nb\n```\n2. c", ol(1, [p("a")]), code("b"), ol(2, [p("c")])],
  ["- a\n# b", ul([p("a")]), h(1, "b")],
  ["- a\n---\n- b", ul([p("a")]), rule, ul([p("b")])],
  ["- a\n\n\n\nb", ul([p("a")]), p("b")],
  ["**a** b\n*c*", p("**a** b\n*c*")],
]);

const cells = (align, header, ...rows) => ({ type: "table", align, header, rows });

table([
  ["| a | b |\n|:--|--:|\n| 1 | 2 |\n| 3 |\n\nc", cells(["left", "right"], ["a", "b"], ["1", "2"], ["3"]), p("c")],
  ["a | b\n:-: | -\n1 | 2 | 3\n# c", cells(["center", null], ["a", "b"], ["1", "2"]), h(1, "c")],
  ["| a |\n| - |\n| `x \\| y` | |", cells([null], ["a"], ["`x | y`"])],
  ["a | b\n---\nc", p("a | b"), rule, p("c")],
  ["a\n| b |\n|---|", p("a"), cells([null], ["b"])],
  ["| a | b |", p("| a | b |")],
]);

table(
  [
    ["| a | b", cells([], ["a", "b"])],
    ["| a | b |\n|--", cells([null], ["a", "b"])],
    ["| a | b |\nc", p("| a | b |\nc")],
    ["a\n| b |", p("a\n| b |")],
  ],
  true,
);

const SIZE = 200_000;
// Linear work stays far below this limit on a busy machine; quadratic work exceeds it on an idle one.
const LIMIT_MS = 10_000;
const HOSTILE = {
  "quote marks": ">",
  "quote marks and spaces": "> ",
  "list marks": "- ",
  numbers: "1. ",
  "number signs": "#",
  spaces: " ",
  pipes: "|",
  "fence marks": "`",
  "lines of list marks": "- \n",
  "deeper quotes": "> > a\n",
  "table heads": "|a|\n|-|\n",
  "incomplete table heads": "a|b\n",
  "blank items": "-\n\n",
  dashes: "-",
  stars: "* ",
  fences: "```\n",
  "invalid fences": "```a`\n",
  "lazy lines": "- a\nb\n",
  tabs: "\t",
  "indented lines": "    a\n",
};

for (const [name, piece] of Object.entries(HOSTILE)) {
  test(`f138_ parse ${name} in linear time`, () => {
    const startedAt = performance.now();
    parseBlocks(piece.repeat(SIZE / piece.length), true);
    assert.ok(performance.now() - startedAt < LIMIT_MS);
  });
}

test("f138_ parse a long fence line in linear time", () => {
  const startedAt = performance.now();
  parseBlocks(`\`\`\`${"a ".repeat(SIZE / 2)}\``);
  assert.ok(performance.now() - startedAt < LIMIT_MS);
});

test("f138_ parse nested lists in linear time and depth", () => {
  const startedAt = performance.now();
  const text = Array.from({ length: 600 }, (_, n) => `${"  ".repeat(n)}- a`).join("\n");
  const depth = (blocks) =>
    Math.max(0, ...blocks.map((block) => (block.items ? 1 + Math.max(...block.items.map(depth)) : 0)));
  assert.equal(depth(parseBlocks(text)), 12);
  assert.ok(performance.now() - startedAt < LIMIT_MS);
});

test("each block has its first line", () => {
  assert.deepEqual(
    parseBlocks("a\n\n# b\n- c\n- d\n\n```\ne\n```").map(({ line }) => line),
    [0, 2, 3, 6],
  );
});
