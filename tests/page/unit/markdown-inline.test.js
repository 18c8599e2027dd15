// The inline parser. Expected tokens are written with marks that no text contains: ‹strong›…‹/›.

import assert from "node:assert/strict";
import { test } from "node:test";

import { parseInline } from "../../../functions/chat/page/markdown-inline.js";
import { safeHref } from "../../../functions/chat/page/markdown-links.js";

const MARKS = {
  text: ({ text }) => text,
  code: ({ text }) => `‹code›${text}‹/›`,
  break: () => "‹br›",
  cite: ({ numbers }) => `‹${numbers}›`,
  open: ({ tag, href }) => `‹${tag}${href ? ` ${href}` : ""}›`,
  close: () => "‹/›",
};

const shown = (text, partial) =>
  parseInline(text, partial)
    .map((token) => MARKS[token.kind](token))
    .join("");

function table(name, rows, partial = false) {
  for (const [text, expected] of rows) {
    test(`${name}: ${JSON.stringify(text)}`, () => assert.equal(shown(text, partial), expected));
  }
}

table("emphasis", [
  ["*a* **b** ***c*** ~~d~~", "‹em›a‹/› ‹strong›b‹/› ‹em›‹strong›c‹/›‹/› ‹del›d‹/›"],
  ["_a_ __b__", "‹em›a‹/› ‹strong›b‹/›"],
  ["**a *b* c**", "‹strong›a ‹em›b‹/› c‹/›"],
  ["*a **b***", "‹em›a ‹strong›b‹/›‹/›"],
  ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
  ["**a", "**a"],
  ["a** b**", "a** b**"],
  ["*a _b* c_", "‹em›a _b‹/› c_"],
  ["****", "****"],
  ["**重要：**内容和**“引用”**的", "‹strong›重要：‹/›内容和‹strong›“引用”‹/›的"],
  ["**Note:**text", "**Note:**text"],
  ["~a~ ~~~b~~~", "‹del›a‹/› ~~~b~~~"],
]);

table("code", [
  ["`a` ``b ` c`` `` ` ``", "‹code›a‹/› ‹code›b ` c‹/› ‹code›`‹/›"],
  ["`*a*` *`b*`", "‹code›*a*‹/› *‹code›b*‹/›"],
  ["`a", "`a"],
  ["`a\nb`", "‹code›a b‹/›"],
  ["`<b>`", "‹code›<b>‹/›"],
]);

table("links", [
  ['[a](https://a.example/x "t")', "‹a https://a.example/x›a‹/›"],
  ["[**a** `b`](https://a.example/)", "‹a https://a.example/›‹strong›a‹/› ‹code›b‹/›‹/›"],
  ["[a](https://a.example/x_(y)_z)", "‹a https://a.example/x_(y)_z›a‹/›"],
  ["[a](<https://a.example/x y>)", "‹a https://a.example/x%20y›a‹/›"],
  ["[a](mailto:a@b.example)", "‹a mailto:a@b.example›a‹/›"],
  ["[](https://a.example/)", "‹a https://a.example/›https://a.example/‹/›"],
  [
    "[[a](https://a.example/)](https://b.example/)",
    "[‹a https://a.example/›a‹/›](‹a https://b.example/›https://b.example/‹/›)",
  ],
  [
    "<https://a.example/?a=b&c> <mailto:a@b.example>",
    "‹a https://a.example/?a=b&c›https://a.example/?a=b&c‹/› ‹a mailto:a@b.example›a@b.example‹/›",
  ],
  [
    "see https://a.example/x, or (https://b.example/y_(z)).",
    "see ‹a https://a.example/x›https://a.example/x‹/›, or (‹a https://b.example/y_(z)›https://b.example/y_(z)‹/›).",
  ],
  ["**https://a.example/**", "‹strong›‹a https://a.example/›https://a.example/‹/›‹/›"],
  ["见https://a.example/x。然后", "见‹a https://a.example/x›https://a.example/x‹/›。然后"],
  ["xhttps://a.example", "xhttps://a.example"],
  ["*a [b* c](https://a.example/)", "*a ‹a https://a.example/›b* c‹/›"],
]);

table("f137_ images become links", [
  ["![a](https://a.example/x.png)", "‹a https://a.example/x.png›a‹/›"],
  ["![](https://a.example/x.png)", "‹a https://a.example/x.png›https://a.example/x.png‹/›"],
  ["![a](data:image/png;base64,AAAA)", "![a](data:image/png;base64,AAAA)"],
  [
    "[![a](https://a.example/x.png)](https://b.example/)",
    "[‹a https://a.example/x.png›a‹/›](‹a https://b.example/›https://b.example/‹/›)",
  ],
]);

table("f138_ active content stays text", [
  ["<script>alert(1)</script>", "<script>alert(1)</script>"],
  ["<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"],
  ["[a](javascript:alert(1))", "[a](javascript:alert(1))"],
  ["[a](JaVaScRiPt:alert(1))", "[a](JaVaScRiPt:alert(1))"],
  ["[a](java\tscript:alert(1))", "[a](java\tscript:alert(1))"],
  ["[a](<java\tscript:alert(1)>)", "[a](<java\tscript:alert(1)>)"],
  ["[a](data:text/html,<script>alert(1)</script>)", "[a](data:text/html,<script>alert(1)</script>)"],
  ["[a](vbscript:x)", "[a](vbscript:x)"],
  ["[a](/api/conversations)", "[a](/api/conversations)"],
  ["[a](//evil.example)", "[a](//evil.example)"],
  ["<javascript:alert(1)>", "<javascript:alert(1)>"],
  ["[a](&#106;avascript:alert(1))", "[a](&#106;avascript:alert(1))"],
  ["&lt;b&gt;", "&lt;b&gt;"],
]);

table("escapes, breaks and citations", [
  ["a\nb\\\nc", "a‹br›b‹br›c"],
  ["\\*a\\* \\[b\\] \\c", "*a* [b] \\c"],
  ["as said [1][2], not [x] or [1](https://a.example/)", "as said ‹1›‹2›, not [x] or ‹a https://a.example/›1‹/›"],
  ["a [1, 2], b [1-3，7]、[2、4]", "a ‹1,2›, b ‹1,2,3,7›、‹2,4›"],
  ["[1,] [, 2] [1 2] [3-1] [1-900]", "[1,] [, 2] [1 2] ‹3,1› ‹1,900›"],
  ["[1234] \\[1]", "[1234] [1]"],
  ["! [ ] ( ) \\", "! [ ] ( ) \\"],
  ["", ""],
]);

table(
  "partial text",
  [
    ["a **b", "a ‹strong›b‹/›"],
    ["a **b *c* d", "a ‹strong›b ‹em›c‹/› d‹/›"],
    ["a ~~b", "a ‹del›b‹/›"],
    ["a **", "a "],
    ["a **b*", "a ‹strong›b‹/›"],
    ["a `b *c", "a ‹code›b *c‹/›"],
    ["a `", "a `"],
    ["a *b", "a *b"],
    ["[a](https://exam", "‹span›a‹/›"],
    ["[a](", "‹span›a‹/›"],
    ["![a](javascript:al", "‹span›a‹/›"],
  ],
  true,
);

test("URLs are checked after normalisation", () => {
  assert.equal(safeHref("https://a.example"), "https://a.example/");
  for (const address of [
    "java\nscript:alert(1)",
    " javascript:alert(1)",
    "blob:https://a.example/x",
    "file:///etc/passwd",
    "x",
    "",
  ]) {
    assert.equal(safeHref(address), null, address);
  }
});

const PIECES = [
  "a", " ", "*", "**", "_", "~~", "`", "``", "[", "]",
  "(", ")", "](", "!", "<", ">", "\\", "\n", "https://a.example", "重", "，", "[1]",
];

/** A random text of Markdown tokens; the same seed gives the same text. */
function randomText(seed) {
  let state = seed;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
  return Array.from({ length: 4 + (next() % 20) }, () => PIECES[next() % PIECES.length]).join("");
}

test("tokens of random texts are well nested", () => {
  for (let seed = 1; seed <= 5_000; seed += 1) {
    for (const partial of [false, true]) {
      let depth = 0;
      for (const { kind } of parseInline(randomText(seed), partial)) {
        if (kind === "open") depth += 1;
        if (kind === "close") depth -= 1;
        assert.ok(depth >= 0, `seed ${seed}`);
      }
      assert.equal(depth, 0, `seed ${seed}`);
    }
  }
});

test("elements below the maximum depth become text", () => {
  const tokens = parseInline(`${"**a ".repeat(20)}deep${" b**".repeat(20)}`);
  const count = (wanted) => tokens.filter(({ kind }) => kind === wanted).length;
  assert.equal(tokens.map(({ text }) => text ?? "").join(""), `${"a ".repeat(20)}deep${" b".repeat(20)}`);
  assert.deepEqual([count("open"), count("close")], [8, 8]);
});

const SIZE = 200_000;
// Linear work stays far below this limit on a busy machine; quadratic work exceeds it on an idle one.
const LIMIT_MS = 10_000;
const HOSTILE = {
  stars: "*",
  "stars and letters": "*a",
  "strong openers": "**a ",
  "mixed emphasis": "*a **b _c ",
  closers: "a* ",
  "stars, underscores": "*_",
  brackets: "[",
  "closing brackets": "]",
  "bracket pairs": "[]",
  "open links": "[a](",
  "open links with text": "[a](b",
  "links in brackets": "[a](<b",
  images: "![",
  backticks: "`",
  "letters and backticks": "a`",
  "open angles": "<",
  "open autolinks": "<https://",
  addresses: "https://",
  "bad addresses": "http://^",
  backslashes: "\\",
  tildes: "~~a ",
  "line ends": "\n",
  parentheses: "[a]((",
  citations: "[1]",
};

for (const [name, piece] of Object.entries(HOSTILE)) {
  test(`f138_ parse ${name} in linear time`, () => {
    const text = piece.repeat(SIZE / piece.length);
    const startedAt = performance.now();
    parseInline(text, true);
    parseInline(text, false);
    assert.ok(performance.now() - startedAt < LIMIT_MS);
  });
}

test("f138_ parse all backtick runs in linear time", () => {
  const text = Array.from({ length: 600 }, (_, n) => "`".repeat(n + 1)).join(" ");
  const startedAt = performance.now();
  parseInline(text);
  assert.ok(performance.now() - startedAt < LIMIT_MS);
});
