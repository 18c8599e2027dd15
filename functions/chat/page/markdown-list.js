// Parses the items of a Markdown list: their markers and their lines. Pure.

import { indentOf, isBlank } from "./markdown-lines.js";

const MARKER = /^(\s*)([-*+]|\d{1,9}[.)])(\s+|$)/;
const FENCE = /^\s*(`{3,}|~{3,})/;

/**
 * The list marker at the start of a line, or null.
 *
 * `kind` distinguishes lists (`-`, `*`, `+`, `.`, `)`). `need` is the minimum indent of the item's further lines. Two
 * spaces more than the marker's indent are enough, because models rarely write the three that a number requires.
 */
export function marker(line) {
  const found = MARKER.exec(line);
  if (!found) return null;
  const [whole, indent, mark] = found;
  return {
    kind: mark.at(-1),
    ordered: mark.length > 1,
    start: Number.parseInt(mark, 10) || 0,
    width: whole.length,
    need: Math.min(whole.length, indent.length + 2),
    empty: isBlank(line.slice(whole.length)),
  };
}

/** The lines of one item, without their indent. */
export class Item {
  lines = [];
  #mark;
  #startsBlock;
  #fence = null;

  constructor(mark, startsBlock) {
    this.#mark = mark;
    this.#startsBlock = startsBlock;
  }

  /** Reads the item from its marker's line; returns the number of the first line after it. */
  read(lines, from) {
    this.#add(lines[from].slice(this.#mark.width));
    let at = from + 1;
    while (at < lines.length) {
      const next = isBlank(lines[at]) ? this.#acrossBlank(lines, at) : at;
      if (next < 0 || !(next > at || this.#belongs(lines[at]))) break;
      for (; at <= next; at += 1) this.#add(this.#stripped(lines[at]));
    }
    return at;
  }

  /** The next line that is not blank if it belongs to the item (the blank lines then do too), else -1. */
  #acrossBlank(lines, from) {
    let at = from;
    while (at < lines.length && isBlank(lines[at])) at += 1;
    return at === lines.length || indentOf(lines[at]) < this.#mark.need ? -1 : at;
  }

  #belongs(line) {
    if (indentOf(line) >= this.#mark.need) return true;
    const last = this.lines.at(-1);
    const text = this.#fence === null && !isBlank(last) && !this.#startsBlock(last);
    return text && !marker(line) && !this.#startsBlock(line);
  }

  #stripped(line) {
    return line.slice(Math.min(indentOf(line), this.#mark.width));
  }

  #add(line) {
    const fence = FENCE.exec(line)?.[1];
    if (this.#fence === null) this.#fence = fence ?? null;
    else if (fence?.startsWith(this.#fence)) this.#fence = null;
    this.lines.push(line);
  }
}
