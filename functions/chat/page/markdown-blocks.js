// Parses Markdown blocks: paragraphs, headings, lists, quotes, code, tables, rules. Pure: text in, a tree out.
//
// It supports what models write, not all of CommonMark. A line of dashes is always a rule. Four spaces do not start
// code. Line ends in a paragraph are kept. HTML is text. There are no reference links, so no block depends on another.
// A stream is therefore rendered by parsing its last block only. Nesting is limited, and each line is scanned once per
// level, so the work is linear in the text.

import { Item, marker } from "./markdown-list.js";
import { fence, indentOf, isBlank } from "./markdown-lines.js";
import { columns, isDelimiterRow, isRow, tableRow } from "./markdown-table.js";

const MAX_DEPTH = 12;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const QUOTE = /^ {0,3}> ?/;

/**
 * Parses a text into blocks.
 *
 * Each block has a `type`; top-level blocks have `line`, the number of their first line. With `partial` the text may
 * continue, so the first row of a table is enough to recognise it.
 */
export function parseBlocks(text, partial = false) {
  return parseLines(text.split("\n"), 0, partial);
}

function parseLines(lines, depth, partial) {
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    const found = readBlock({ lines, at, depth, partial });
    blocks.push({ ...found.block, line: at });
    at = found.end;
  }
  return blocks;
}

function readBlock(cursor) {
  return (
    readFence(cursor) ??
    readHeading(cursor) ??
    readRule(cursor) ??
    readQuote(cursor) ??
    readList(cursor) ??
    readTable(cursor) ??
    readParagraph(cursor)
  );
}

function readFence({ lines, at }) {
  const open = fence(lines[at]);
  if (!open) return null;
  const indent = indentOf(lines[at]);
  const body = [];
  let end = at + 1;
  while (end < lines.length && !closesFence(lines[end], open.marks)) {
    body.push(lines[end].slice(Math.min(indent, indentOf(lines[end]))));
    end += 1;
  }
  const closed = end < lines.length;
  return {
    block: { type: "code", language: open.language, text: body.join("\n"), closed },
    end: closed ? end + 1 : end,
  };
}

function closesFence(line, marks) {
  const text = line.trim();
  return text.length >= marks.length && indentOf(line) < 4 && text === marks[0].repeat(text.length);
}

function readHeading({ lines, at }) {
  const found = HEADING.exec(lines[at]);
  if (!found) return null;
  return { block: { type: "heading", level: found[1].length, text: withoutClosing(found[2] ?? "") }, end: at + 1 };
}

/** Removes the optional closing number signs of a heading: ` ##` at the end, or a text of number signs only. */
function withoutClosing(text) {
  const line = text.trim();
  let end = line.length;
  while (end > 0 && line[end - 1] === "#") end -= 1;
  return end === 0 || line[end - 1] === " " ? line.slice(0, end).trim() : line;
}

function readRule({ lines, at }) {
  return isRule(lines[at]) ? { block: { type: "rule" }, end: at + 1 } : null;
}

function isRule(line) {
  const marks = line.replace(/\s+/g, "");
  return marks.length >= 3 && "-*_".includes(marks[0]) && marks === marks[0].repeat(marks.length);
}

function readQuote({ lines, at, depth }) {
  if (depth >= MAX_DEPTH || !QUOTE.test(lines[at])) return null;
  let end = at;
  const inner = [];
  for (; end < lines.length && QUOTE.test(lines[end]); end += 1) inner.push(lines[end].replace(QUOTE, ""));
  return { block: { type: "quote", blocks: parseLines(inner, depth + 1, false) }, end };
}

function readList({ lines, at, depth }) {
  const first = depth < MAX_DEPTH && marker(lines[at]);
  if (!first) return null;
  const items = [];
  let loose = false;
  let end = at;
  for (let next = first; next; next = sameList(lines, end, first.kind)) {
    const item = new Item(next, startsBlock);
    const after = item.read(lines, end);
    end = afterBlank(lines, after);
    const blocks = parseLines(item.lines, depth + 1, false);
    items.push(blocks);
    loose ||= blocks.slice(1).some(({ line }) => isBlank(item.lines[line - 1]));
    loose ||= end > after && sameList(lines, end, first.kind) !== null;
  }
  return { block: { type: "list", ordered: first.ordered, start: first.start, loose, items }, end };
}

function sameList(lines, at, kind) {
  if (at >= lines.length || isRule(lines[at])) return null;
  const next = marker(lines[at]);
  return next?.kind === kind ? next : null;
}

function afterBlank(lines, from) {
  let at = from;
  while (at < lines.length && isBlank(lines[at])) at += 1;
  return at;
}

function readTable(cursor) {
  if (!startsTable(cursor)) return null;
  const { lines, at } = cursor;
  const delimiters = lines[at + 1] !== undefined && isDelimiterRow(lines[at + 1]) ? columns(lines[at + 1]) : [];
  const header = tableRow(lines[at]);
  const rows = [];
  let end = Math.min(at + 2, lines.length);
  for (; end < lines.length && !isBlank(lines[end]) && !startsBlock(lines[end]); end += 1) {
    rows.push(tableRow(lines[end]).slice(0, header.length));
  }
  return { block: { type: "table", align: delimiters, header, rows }, end };
}

function startsTable({ lines, at, depth, partial }) {
  if (!isRow(lines[at])) return false;
  const next = lines[at + 1];
  if (next !== undefined && isDelimiterRow(next)) return true;
  const unfinished = next === undefined || (at + 2 === lines.length && /^[\s|:-]*$/.test(next));
  return partial && depth === 0 && unfinished && lines[at].trimStart().startsWith("|");
}

function readParagraph({ lines, at, depth }) {
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && !interrupts({ lines, at: end, depth })) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trim())
    .join("\n");
  return { block: { type: "paragraph", text }, end };
}

/** Whether the block at `at` interrupts the paragraph above it; a numbered list does so only if it starts with 1. */
function interrupts(cursor) {
  const line = cursor.lines[cursor.at];
  const item = marker(line);
  if (item && !isRule(line)) return !item.empty && (!item.ordered || item.start === 1);
  return startsBlock(line) || startsTable(cursor);
}

function startsBlock(line) {
  return fence(line) !== null || HEADING.test(line) || QUOTE.test(line) || isRule(line);
}
