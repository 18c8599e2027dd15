// What GitHub's Markdown adds to CommonMark: tables, task lists, struck text, bare links and footnotes.

import assert from "node:assert/strict";
import { test } from "node:test";

import { openMarkdown } from "../support/markdown.js";

const page = await openMarkdown();

/** The HTML of a text without what only the page adds. */
async function rendered(text) {
  const html = await page.evaluate((text) => window.render(text, null, false).html, text);
  return html
    .replaceAll(/ (target|rel|title|tabindex|role|type|aria-[a-z]+|data-[a-z]+|id)="[^"]*"/g, "")
    .replaceAll(/<div class="table">(.*?)<\/div>/g, "$1");
}

const th = (...cells) => `<thead><tr>${cells.map((cell) => `<th>${cell}</th>`).join("")}</tr></thead>`;
const td = (...rows) => `<tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody>`;
const table = (head, ...rows) => `<table>${th(...head)}${rows.length > 0 ? td(...rows) : ""}</table>`;
const task = (done, text) => `<li class="task"><span class="task-box ${done ? "done" : ""}"></span>${text}</li>`;

const CASES = {
  tables: [
    ["| a | b |\n| --- | --- |\n| c | d |", table(["a", "b"], ["c", "d"])],
    ["a | b\n-- | --\nc | d", table(["a", "b"], ["c", "d"])],
    ["| a |\n| - |\n| x \\| y |", table(["a"], ["x | y"])],
    ["| a |\n| - |\n| `x \\| y` **z** |", table(["a"], ["<code>x | y</code> <strong>z</strong>"])],
    ["| a | b |\n|---|---|\n| only |", table(["a", "b"], ["only", ""])],
    ["| a | b |\n|---|---|\n| x | y | z |", table(["a", "b"], ["x", "y"])],
    ["| a |\n|---|", table(["a"])],
    ["| a |\n|---|\n| b |\n> c", `${table(["a"], ["b"])}<blockquote><p>c</p></blockquote>`],
    ["| a |\n|---|\n| b |\n\nc", `${table(["a"], ["b"])}<p>c</p>`],
    ["| a | b |\n|---|\nc", "<p>| a | b |<br>|---|<br>c</p>"],
    ["| 名称 | 值 |\n|:--|--:|\n| 温度 | 3<br>4 |", table(["名称", "值"], ["温度", "3<br>4"]).replace("<th>值", '<th class="align-right">值').replace("<td>3", '<td class="align-right">3')],
  ],
  "task lists": [
    ["- [x] a\n- [ ] b", `<ul>${task(true, "a")}${task(false, "b")}</ul>`],
    ["1. [X] a", `<ol>${task(true, "a")}</ol>`],
    ["- [x] a\n  - [ ] b", `<ul>${task(true, `a<ul>${task(false, "b")}</ul>`)}</ul>`],
    ["- [x]a", "<ul><li>[x]a</li></ul>"],
    ["- a [x]", "<ul><li>a [x]</li></ul>"],
    ["[x] a", "<p>[x] a</p>"],
  ],
  "struck text": [
    ["~~a~~ b", "<p><s>a</s> b</p>"],
    ["~~a\n\nb~~", "<p>~~a</p><p>b~~</p>"],
    ["~~~\na\n~~~", null],
  ],
  "bare links": [
    ["www.a.example/x", '<p><a href="https://www.a.example/x">www.a.example/x</a></p>'],
    ["(https://a.example/b).", '<p>(<a href="https://a.example/b">https://a.example/b</a>).</p>'],
    ["https://a.example/b(c)", '<p><a href="https://a.example/b(c)">https://a.example/b(c)</a></p>'],
    ["x@a.example.", '<p><a href="mailto:x@a.example">x@a.example</a>.</p>'],
    ["ftp://a.example/b", "<p>ftp://a.example/b</p>"],
  ],
};

for (const [name, cases] of Object.entries(CASES)) {
  test(`GFM: ${name}`, async () => {
    for (const [text, expected] of cases) {
      const html = (await rendered(text)).replaceAll(" short", "").replaceAll(' class="short"', "").replaceAll(' class="align-left"', "");
      if (expected === null) assert.doesNotMatch(html, /<s>/, text);
      else assert.equal(html, expected, text);
    }
  });
}

test("GFM: footnotes", async () => {
  const read = (text) =>
    page.evaluate((text) => {
      const { body } = new DOMParser().parseFromString(window.render(text, null, false).html, "text/html");
      return {
        references: [...body.querySelectorAll(".footnote-ref")].map((node) => node.textContent),
        notes: [...body.querySelectorAll(".footnotes li")].map((node) => node.textContent.replaceAll(/[\s↩]+/g, " ").trim()),
      };
    }, text);
  for (const [text, references, notes] of [
    ["a[^1]\n\n[^1]: one", ["1"], ["one"]],
    ["a[^x] b[^y]\n\n[^y]: why\n[^x]: ex", ["1", "2"], ["ex", "why"]],
    ["a[^1] b[^1]\n\n[^1]: one", ["1", "1"], ["one"]],
    ["a[^1]\n\n[^1]: one **bold**\n\n    more", ["1"], ["one boldmore"]],
    ["a[^1]", [], []],
    ["参见[^注]\n\n[^注]: 说明。", ["1"], ["说明。"]],
  ]) {
    const found = await read(text);
    assert.deepEqual(found.references.map((mark) => mark.split(":")[0].replaceAll(/[[\]]/g, "")), references, text);
    assert.deepEqual(found.notes, notes, text);
  }
});
