// Parses the Markdown inside one block: emphasis, code, links. Pure: text in, a flat list of tokens out.
//
// The tokens are well-nested `open` and `close` pairs around `text`, `code`, `break` and `cite`. Their depth is
// limited, so a renderer needs a stack and no recursion. HTML is text. The work is linear in the text: each search either
// consumes the text that it scans or uses an index that is built once (`CodeSpans`, `Emphasis`).

import { Emphasis, flanking } from "./markdown-emphasis.js";
import { bareUrl, safeHref } from "./markdown-links.js";
import { flatten } from "./markdown-tokens.js";

const SPECIAL = /[\\`*_~[\]!<\n]|https?:\/\//gi;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const RUN = /`+|\*+|_+|~+/y;
const CITATION = /\[(\d{1,3}(?:(?: ?[,，、] ?| ?[-–] ?)\d{1,3})*)\](?!\()/y;
const MAX_RANGE = 50;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]*)>/iy;
const MAX_PARENS = 32;

/**
 * Parses the text of one block.
 *
 * With `partial` the text may continue. Unclosed strong text, struck text, code and link targets at its end then count
 * as closed, so a streamed answer does not flicker.
 */
export function parseInline(text, partial = false) {
  return new Scanner(text, partial).scan();
}

/** An index of the runs of backticks by length, which finds a closing run without scanning the text again. */
class CodeSpans {
  #starts = new Map();

  constructor(text) {
    for (const run of text.matchAll(/`+/g)) {
      const length = run[0].length;
      if (!this.#starts.has(length)) this.#starts.set(length, { at: 0, list: [] });
      this.#starts.get(length).list.push(run.index);
    }
  }

  /** The start of the first run of this length at or after `from`, or -1; `from` must not decrease between calls. */
  closing(length, from) {
    const runs = this.#starts.get(length);
    if (!runs) return -1;
    while (runs.at < runs.list.length && runs.list[runs.at] < from) runs.at += 1;
    return runs.list[runs.at] ?? -1;
  }
}

class Scanner {
  #text;
  #partial;
  #at = 0;
  #tokens = [];
  #brackets = [];
  #emphasis = new Emphasis();
  #spans;

  constructor(text, partial) {
    this.#text = text;
    this.#partial = partial;
    this.#spans = new CodeSpans(text);
  }

  scan() {
    while (this.#at < this.#text.length) {
      this.#plain();
      if (this.#at < this.#text.length) this.#special();
    }
    const tail = this.#emphasis.finish(this.#partial);
    return flatten(this.#tokens.concat(tail));
  }

  #plain() {
    SPECIAL.lastIndex = this.#at;
    const end = SPECIAL.exec(this.#text)?.index ?? this.#text.length;
    this.#emit(this.#text.slice(this.#at, end));
    this.#at = end;
  }

  #special() {
    switch (this.#text[this.#at]) {
      case "\\":
        return this.#escape();
      case "`":
        return this.#code();
      case "[":
        return this.#openBracket(1);
      case "!":
        return this.#text[this.#at + 1] === "[" ? this.#openBracket(2) : this.#literal(1);
      case "]":
        return this.#closeBracket();
      case "<":
        return this.#autolink();
      case "\n":
        return this.#lineBreak(1);
      case "h":
      case "H":
        return this.#url();
      default:
        return this.#delimiters();
    }
  }

  #emit(text) {
    if (text !== "") this.#tokens.push({ kind: "text", text });
  }

  #literal(length) {
    this.#emit(this.#text.slice(this.#at, this.#at + length));
    this.#at += length;
  }

  #match(pattern) {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }

  #escape() {
    const next = this.#text[this.#at + 1];
    if (next === "\n") return this.#lineBreak(2);
    if (next === undefined || !PUNCTUATION.test(next)) return this.#literal(1);
    this.#at += 1;
    this.#literal(1);
  }

  #lineBreak(length) {
    this.#tokens.push({ kind: "break" });
    this.#at += length;
  }

  #code() {
    const length = this.#match(RUN)[0].length;
    const start = this.#at + length;
    const closing = this.#spans.closing(length, start);
    if (closing < 0 && (!this.#partial || start === this.#text.length)) return this.#literal(length);
    const end = closing < 0 ? this.#text.length : closing;
    this.#tokens.push({ kind: "code", text: codeText(this.#text.slice(start, end)) });
    this.#at = closing < 0 ? end : end + length;
  }

  /** Adds a run of delimiters. A run at the end of a partial text is omitted, because it may still grow. */
  #delimiters() {
    const run = this.#match(RUN)[0];
    if (this.#partial && this.#at + run.length === this.#text.length) return (this.#at += run.length);
    const sides = flanking(run[0], this.#text[this.#at - 1], this.#text[this.#at + run.length]);
    const token = { kind: "run", char: run[0], count: run.length, opens: [], closes: [] };
    this.#tokens.push(token);
    this.#emphasis.add(token, sides);
    this.#at += run.length;
  }

  #autolink() {
    const found = this.#match(AUTOLINK);
    const href = found && safeHref(found[1]);
    if (!href) return this.#literal(1);
    this.#link(href, found[1].replace(/^mailto:/i, ""));
    this.#at += found[0].length;
  }

  #url() {
    const url = bareUrl(this.#text, this.#at);
    const href = url && safeHref(url);
    if (!href) return this.#literal(url?.length ?? "http".length);
    this.#link(href, url);
    this.#at += url.length;
  }

  #link(href, text) {
    this.#tokens.push({ kind: "open", tag: "a", href }, { kind: "text", text }, { kind: "close" });
  }

  #openBracket(length) {
    const citation = length === 1 && this.#match(CITATION);
    if (citation) {
      this.#tokens.push({ kind: "cite", numbers: citedNumbers(citation[1]), text: citation[0] });
      this.#at += citation[0].length;
      return;
    }
    this.#brackets.push({ token: this.#tokens.length, mark: this.#emphasis.mark() });
    this.#literal(length);
  }

  #closeBracket() {
    const opener = this.#brackets.pop();
    const target = opener && this.#target(this.#at + 1);
    const href = target && !target.open ? safeHref(target.url) : null;
    if (!target || (!target.open && !href)) return this.#literal(1);
    this.#emphasis.resolve(opener.mark);
    const empty = this.#tokens.length === opener.token + 1;
    this.#tokens[opener.token] = href ? { kind: "open", tag: "a", href } : { kind: "open", tag: "span" };
    if (empty) this.#emit(target.url);
    this.#tokens.push({ kind: "close" });
    this.#brackets = [];
    this.#at = target.end;
  }

  /** Parses `(url "title")`; `open` is set if the text ends inside it. */
  #target(start) {
    if (this.#text[start] !== "(") return null;
    const end = this.#targetEnd(start + 1);
    if (end < 0) return null;
    const open = end === this.#text.length;
    if (open && !this.#partial) return null;
    const [, bracketed, bare] = /^\s*(?:<([^<>\n]*)>|(\S*))/.exec(this.#text.slice(start + 1, end));
    return { open, url: bracketed ?? bare.replace(/\\([!-/:-@[-`{-~])/g, "$1"), end: open ? end : end + 1 };
  }

  /** The index of the closing parenthesis, the text's length if it is missing, or -1. Linear, as `](` adds a level. */
  #targetEnd(from) {
    let depth = 0;
    for (let at = from; at < this.#text.length; at += 1) {
      const char = this.#text[at];
      if (char === "\n") return -1;
      if (char === "\\") at += 1;
      else if (char === "(" && (depth += 1) > MAX_PARENS) return -1;
      else if (char === ")" && (depth -= 1) < 0) return at;
    }
    return this.#text.length;
  }
}

/** The content of a code span: line ends become spaces, and one padding space at each end is removed. */
function codeText(text) {
  const line = text.replaceAll("\n", " ");
  const padded = line.length > 2 && line[0] === " " && line.at(-1) === " " && line.trim() !== "";
  return padded ? line.slice(1, -1) : line;
}

/** The numbers of `1, 3-5`; a range that is none, or that is too long, has its ends only. */
function citedNumbers(list) {
  return list.split(/[,，、]/).flatMap((member) => {
    const [first, last = first] = member.split(/[-–]/).map(Number);
    const length = last - first + 1;
    if (length < 1 || length > MAX_RANGE) return [first, last];
    return Array.from({ length }, (_, n) => first + n);
  });
}
