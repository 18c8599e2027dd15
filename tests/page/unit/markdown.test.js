// The page's Markdown: what models write in addition to CommonMark, what stays text, and texts that may continue.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openMarkdown } from "../support/markdown.js";

const page = await openMarkdown();

/** The HTML of a text without the attributes that all links and blocks share. */
function short(html) {
  return html
    .replaceAll(/ (target|rel|title|tabindex|role|aria-label|aria-level|data-(source|title))="[^"]*"/g, "")
    .replaceAll(/<div class="code-head">.*?<\/div>/g, "")
    .replaceAll('<code class="short">', "<code>")
    .replaceAll("\u2060", "⁠");
}

async function rendered(text, pieces = null, cited = true) {
  const { html, streamed } = await page.evaluate(([text, pieces, cited]) => window.render(text, pieces, cited), [text, pieces, cited]);
  return { html: short(html), streamed: short(streamed) };
}

function table(name, rows, cited = true) {
  test(name, async () => {
    for (const [text, expected] of rows) assert.equal((await rendered(text, null, cited)).html, expected, text);
  });
}

const p = (inner) => `<p>${inner}</p>`;
const b = (inner) => `<strong>${inner}</strong>`;
const a = (href, inner = href) => `<a href="${href}">${inner}</a>`;
const cite = (number) => `<sup class="cite">${a(`https://s${number}.example/`, number)}</sup>`;

table("Chinese emphasis closes at Chinese punctuation", [
  ["**时间：**2026年", p(`${b("时间：")}2026年`)],
  ["**价格：**100元", p(`${b("价格：")}100元`)],
  ["**注意！**API", p(`${b("注意！")}API`)],
  ["**版本（稳定版）**v1.2", p(`${b("版本（稳定版）")}v1.2`)],
  ["**前端：**React、**后端：**Rust", p(`${b("前端：")}React、${b("后端：")}Rust`)],
  ["𠮷**“引”**家", p(`𠮷${b("“引”")}家`)],
  ["**重要：**内容和**“引用”**的", p(`${b("重要：")}内容和${b("“引用”")}的`)],
  ["请看**《手册》**第3页", p(`请看${b("《手册》")}第3页`)],
  ["**“A”**和**“B”**", p(`${b("“A”")}和${b("“B”")}`)],
  ["这是**粗体**文字", p(`这是${b("粗体")}文字`)],
  ["**结论**：可行", p(`${b("结论")}：可行`)],
  ["~~旧：~~新", p("<s>旧：</s>新")],
  ["- **网址：**https://a.example/x", `<ul><li>${b("网址：")}${a("https://a.example/x")}</li></ul>`],
]);

table("allowed HTML is shown, other HTML stays text", [
  ["a<br>b<br/>c", p("a<br>b<br>c")],
  ["H<sub>2</sub>O x<sup>2</sup>", p("H<sub>2</sub>O x<sup>2</sup>")],
  ["<kbd>Ctrl</kbd> <mark>m</mark> <u>u</u>", p("<kbd>Ctrl</kbd> <mark>m</mark> <u>u</u>")],
  ["<sub>open", p("<sub>open</sub>")],
  ["</sub>x</u>", p("x")],
  ["a <!-- b --> c", p("a  c")],
  ["<u onclick=alert(1)>x</u>", p("&lt;u onclick=alert(1)&gt;x")],
  ["<b>x</b>", p("&lt;b&gt;x&lt;/b&gt;")],
  ["<details>\n<summary>S *i*</summary>\n\n- x\n\n</details>\n\ny", `<details><summary>S <em>i</em></summary><ul><li>x</li></ul></details>${p("y")}`],
  ["&nbsp;&lt;&amp;&copy;", p("&nbsp;&lt;&amp;©")],
]);

table("what models write in addition", [
  ["</details>\na\n---", `<h4 class="level-2">a</h4>`],
  ["##标题\na\n---", `<h4 class="level-2">标题</h4><h4 class="level-2">a</h4>`],
  ["##标题\n\n#话题", `<h4 class="level-2">标题</h4>${p("#话题")}`],
  ["Title\n=====", '<h3 class="level-1">Title</h3>'],
  ["- a\n\t- b", "<ul><li>a<ul><li>b</li></ul></li></ul>"],
  ["- [x] a\n- [ ] b", '<ul><li class="task"><span class="task-box done"></span>a</li><li class="task"><span class="task-box "></span>b</li></ul>'],
  ["[a][1]\n\n[1]: https://a.example/", p(a("https://a.example/", "a"))],
  ["www.a.example, a@b.example", p(`${a("https://www.a.example/", "www.a.example")}, ${a("mailto:a@b.example", "a@b.example")}`)],
  ["see https://a.example/x_(y)。然后", p(`see ${a("https://a.example/x_(y)")}。然后`)],
  ["|a|b|\n|-|-:|\n|1|", '<div class="table"><table><thead><tr><th>a</th><th class="align-right">b</th></tr></thead><tbody><tr><td>1</td><td class="align-right"></td></tr></tbody></table></div>'],
  ["a[^1]\n\n[^1]: n", `${p('a\u2060<sup class="footnote-ref"><button type="button" class="jump" id="ref-1" data-jump="fn-1">1</button></sup>')}<section class="footnotes"><ol><li id="fn-1">${p('n <button type="button" class="jump" data-jump="ref-1">↩</button>')}</li></ol></section>`],
]);

const maths = (tex) => `<span class="math inline" data-tex="${tex}"><code>${tex}</code></span>`;
const display = (tex) => `<div class="math display" data-tex="${tex}"><code>${tex}</code></div>`;

table("formulas keep their TeX, prices stay text", [
  ["$c*d*e$ \\(x\\)", p(`${maths("c*d*e")} ${maths("x")}`)],
  ["$5 and $6, US$7", p("$5 and $6, US$7")],
  ["$$\n\\frac{a}{b}\n$$", display("\\frac{a}{b}")],
  ["\\[ x \\]", display("x")],
  ["\\begin{align}\na\\\\\nb\n\\end{align}", display("\\begin{align}\na\\\\\nb\n\\end{align}")],
  ["`$x$`", p("<code>$x$</code>")],
]);

table("citations join the text before them", [
  ["make it [1].", p(`make it⁠${cite(1)}.`)],
  ["a [1, 2]", p(`a⁠${cite(1)}${cite(2)}`)],
  ["a [1-3，7]", p(`a⁠${[1, 2, 3, 7].map(cite).join("")}`)],
  ["a [1]: b", p(`a⁠${cite(1)}: b`)],
  ["a [99].", p("a⁠.")],
  ["a [1, 99]", p(`a⁠${cite(1)}`)],
  ["[1](https://a.example/)", p(a("https://a.example/", "1"))],
]);
table("numbers in brackets stay text without sources", [["a [1].", p("a [1].")]], false);

const passage = (path, first, last, label) =>
  `<button type="button" class="passage-link" aria-haspopup="dialog" data-document="${path}" data-first="${first}" data-last="${last}">${label}</button>`;
const plan = (lines, first, last = first) => passage("notes/plan.md", first, last, `notes/plan.md:${lines}`);

table("lines of documents are buttons", [
  ["see `notes/plan.md:12`.", p(`see ${passage("notes/plan.md", 12, 12, "<code>notes/plan.md:12</code>")}.`)],
  ["(notes/plan.md:12-20), notes/plan.md:7–9", p(`(${plan("12-20", 12, 20)}), ${plan("7–9", 7, 9)}`)],
  ["**notes/plan.md:3**，合同见notes.txt:4。", p(`${b(plan("3", 3))}，${passage("合同见notes.txt", 4, 4, "合同见notes.txt:4")}。`)],
  ["依据（合同/租赁.md:2）", p(`依据（${passage("合同/租赁.md", 2, 2, "合同/租赁.md:2")}）`)],
  ["`My notes/a b.md:1, 5`", p(passage("My notes/a b.md", 1, 1, "<code>My notes/a b.md:1, 5</code>"))],
  ["./src/main.rs:12:5 x", p(`${passage("src/main.rs", 12, 12, "./src/main.rs:12:5")} x`)],
  ["notes/plan.md:20-12", p(plan("20-12", 20))],
  ["[x `a.md:1`](https://a.example/)", p(a("https://a.example/", "x <code>a.md:1</code>"))],
]);

const PLAIN = ["10:30", "v1.2:30", "example.com:8080", "127.0.0.1:3000", "/etc/hosts.d:1", "../a.md:1", "a//b.md:1", "a.md:0", "a.md:12.5", "a.md:1x", "a.md: 12", "`a.md`", "`let a.b:1;`"];
table("what only resembles lines of documents stays text", [
  ...PLAIN.map((text) => [text, p(text.startsWith("`") ? `<code>${text.slice(1, -1)}</code>` : text)]),
  ["https://a.example/b.md:12", p(a("https://a.example/b.md:12"))],
]);
table("without documents their lines stay text", [["`a.md:1` b.md:2", p("<code>a.md:1</code> b.md:2")]], false);

test("headings have levels without gaps for screen readers", async () => {
  const levels = async (text) => [...(await page.evaluate((text) => window.render(text).html, text)).matchAll(/aria-level="(\d)"/g)].map(([, level]) => Number(level));
  assert.deepEqual(await levels("## a\n\n### b\n\n##### c\n\n## d"), [3, 4, 5, 3]);
  assert.deepEqual(await levels("### a\n\n# b\n\n## c"), [3, 3, 4]);
});

table("names of hosts are written in ASCII", [
  ["[x](https://例子.example/路)", p(a("https://xn--fsqu00a.example/%E8%B7%AF", "x"))],
  ["<https://аpple.example/>", p(a("https://xn--pple-43d.example/", "https://аpple.example/"))],
]);

table("f137_ images become links", [
  ["![a](https://a.example/x.png)", p(a("https://a.example/x.png", "a"))],
  ["![a](data:image/png;base64,AAAA)", p("![a](data:image/png;base64,AAAA)")],
]);

table("f138_ active content stays text", [
  ["<script>alert(1)</script>", p("&lt;script&gt;alert(1)&lt;/script&gt;")],
  ["<img src=x onerror=alert(1)>", p("&lt;img src=x onerror=alert(1)&gt;")],
  ...["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "/api/conversations", "//evil.example", "&#106;avascript:alert(1)"].map(
    (target) => [`[a](${target})`, p(`[a](${target.replace("&#106;", "j")})`)],
  ),
]);

test("an unfinished text shows open marks as closed", async () => {
  for (const [text, expected] of [
    ["a **b", p(`a ${b("b")}`)],
    ["a **b *c* d", p(`a ${b("b <em>c</em> d")}`)],
    ["a ~~b", p("a <s>b</s>")],
    ["a **", p("a")],
    ["a `b *c", p("a <code>b *c</code>")],
    ["[a](https://exam", p("a")],
    ["a\n-", p("a")],
    ["a\n\n```js\nx", `${p("a")}<div class="code" data-language="js"><pre><code>x</code></pre></div>`],
  ]) {
    assert.equal((await rendered(text, [text])).streamed, expected, text);
  }
});

/** Runs in the page: renders random texts in pieces and at once; returns the first difference, or null. */
function firstDifference(seeds) {
  const parts = [
    "a", " b", "\n", "\n\n", "- ", "* ", "1. ", "  ", "    ", "> ", "# ", "##题", "```", "```js\n", "~~~\n", "|",
    "| a | b |\n", "|---|--:|\n", "---", "\n****", "\n____", "***", "**", "*", "_", "`", "[", "](", ")", "\n===\n",
    "[x](https://a.example/)", "https://a.example", "\\", "<b>", "<br>", "<u>", "</u>", "\n<details>\n", "\n</details>\n",
    "重，", "[1]", "$", "$$", "\n$$\n", "\\(x\\)", "\\[", "\\]", "[^1]", "\n[^1]: n\n", "\n[r]: https://r.example/\n", "[r]", "- [x] ", "a/b.md:1", "2-3",
  ];
  for (let seed = 1; seed <= seeds; seed += 1) {
    let state = seed * 7919;
    const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
    const pieces = Array.from({ length: 3 + (next() % 30) }, () => parts[next() % parts.length]);
    const text = pieces.join("");
    const whole = window.render(text).html;
    for (const cut of [pieces, text.split("")]) {
      const grown = window.render(text, cut).html;
      if (grown !== whole) return { seed, text, whole, grown };
    }
  }
  return null;
}

test("short code stays on one line", async () => {
  const { html } = await page.evaluate(() => window.render("`--ephemeral` and `lambda-chat --data /var/lib/lambda-chat`"));
  assert.match(html, /<code class="short">--ephemeral<\/code> and <code>lambda-chat/);
});

test("a text that was cut keeps what its growth showed", async () => {
  const ends = {
    "One **two": "<p>One <strong>two</strong></p>",
    "One `two": '<p>One <code class="short">two</code></p>',
    "One [two](https://exa": "<p>One two</p>",
    "One\n\n- two\n- ": "<p>One</p><ul><li>two</li></ul>",
    "One\n\n**": "<p>One</p>",
    "One **two**": "<p>One <strong>two</strong></p>",
    "*One two": "<p><em>One two</em></p>",
    "One *two": "<p>One *two</p>",
    "One\n\n*Two `b` three.*": '<p>One</p><p><em>Two <code class="short">b</code> three.</em></p>',
    "One\n42": "<p>One<br>42</p>",
    "$$\nx^2\n$$": /class="math display"[^>]*data-tex="x\^2"/,
    "One[^1]\n\n[^1]: A **note": /<section class="footnotes".*A <strong>note<\/strong>/,
  };
  for (const [text, expected] of Object.entries(ends)) {
    const html = await page.evaluate((text) => window.render(text, [text], true, true).html.replaceAll("\n", ""), text);
    if (expected instanceof RegExp) assert.match(html, expected);
    else assert.equal(html, expected);
  }
});

test("incremental rendering equals rendering at once", { timeout: 120_000 }, async () => {
  assert.equal(await page.evaluate(firstDifference, 3_000), null);
});

/** Runs in the page: the rendering time in ms of a repeated piece, in steps of `step` characters. */
function renderTime({ piece, size, step }) {
  const text = piece.repeat(size / piece.length);
  const pieces = Array.from({ length: Math.ceil(text.length / step) }, (_, n) => text.slice(n * step, (n + 1) * step));
  const startedAt = performance.now();
  window.render(text, pieces);
  return performance.now() - startedAt;
}

// Linear work stays far below this limit on an idle machine, quadratic work exceeds it.
const LIMIT_MS = 15_000;

// On a busy machine the limit is this many times the time of an ordinary text at that moment, which an idle one renders in 150 ms.
const LIMIT_RATIO = 100;

/** Asserts that a repeated piece renders in bounded time. */
async function assertBounded(input, name) {
  const elapsedMs = await page.evaluate(renderTime, input);
  if (process.env.SHOW) console.log(name, Math.round(elapsedMs));
  if (elapsedMs < LIMIT_MS) return;
  const ordinaryMs = await page.evaluate(renderTime, { piece: "a* ", size: 200_000, step: 200_000 });
  assert.ok(elapsedMs < LIMIT_RATIO * ordinaryMs, `${name}: ${elapsedMs} ms, an ordinary text ${ordinaryMs} ms`);
}

test("f138_ hostile lines render in bounded time", { timeout: 600_000 }, async () => {
  for (const piece of [
    "*", "[", "**a ", "*a **b _c ", "a* ", "[a](", "[a](b", "![", "`a ", "`", "a`", "> ", "- ", "|", "<", "<b>", "<u>", "<!--", "*a _b ",
    "![a](https://a.example/) ", "word ", "$", "$a", "\\(", "\\[", "$$\n", "~~a ", "[1]", "[^a]", "https://", "a@b.", "\\", "- \n", "> > a\n", "|a|\n|-|\n",
    "<details>\n", "#", "```\n", "    a\n", "[a]: ",
  ]) {
    for (const step of [100_000, 1_000]) {
      await assertBounded({ piece, size: 100_000, step }, `${JSON.stringify(piece)} in steps of ${step}`);
    }
  }
});

test("small deltas of a long answer stay cheap", { timeout: 120_000 }, async () => {
  const piece = "A paragraph with **bold** words and a [link](https://a.example/).\n\n";
  await assertBounded({ piece, size: piece.length * 4_000, step: 20 }, "a long answer");
});
