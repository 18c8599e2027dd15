// Markdown inside one block: emphasis, code, links. Pure: text in, a flat list of tokens out.
//
// The tokens are well nested `open` and `close` pairs around `text`, `code`, `break` and `cite`, at most a few levels
// deep, so a reader needs a stack and no recursion. HTML is text. The work is linear in the text: every search either
// consumes what it has seen or is answered from an index made once (`CodeSpans`, `Emphasis`).

import { Emphasis, flanking } from "./markdown-emphasis.js";
import { bareUrl, safeHref } from "./markdown-links.js";

const SPECIAL = /[\\`*_~[\]!<\n]|https?:\/\//gi;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const RUN = /`+|\*+|_+|~+/y;
const CITATION = /\[(\d{1,3})\](?!\()/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]*)>/iy;
const MAX_PARENS = 32;
const MAX_NESTING = 8;

/**
 * Reads the text of one block.
 *
 * With `partial` the text may go on: what is open at its end (strong, struck, code, a link's address) is shown as what
 * it is about to become, so that a streamed answer does not flicker.
 */
export function parseInline(text, partial = false) {
  return new Scanner(text, partial).scan();
}

/** Where each run of backticks is, by length, so that a closing run is found without a second look at the text. */
class CodeSpans {
  #starts = new Map();

  constructor(text) {
    for (const run of text.matchAll(/`+/g)) {
      const length = run[0].length;
      if (!this.#starts.has(length)) this.#starts.set(length, { at: 0, list: [] });
      this.#starts.get(length).list.push(run.index);
    }
  }

  /** The start of the first run of this length at or after `from`, or -1; `from` must not go back. */
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

  /** A run that ends an unfinished text may still grow: it is left out until more comes. */
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
    const written = bareUrl(this.#text, this.#at);
    const href = written && safeHref(written);
    if (!href) return this.#literal(written?.length ?? "http".length);
    this.#link(href, written);
    this.#at += written.length;
  }

  #link(href, text) {
    this.#tokens.push({ kind: "open", tag: "a", href }, { kind: "text", text }, { kind: "close" });
  }

  #openBracket(length) {
    const citation = length === 1 && this.#match(CITATION);
    if (citation) {
      this.#tokens.push({ kind: "cite", number: Number(citation[1]) });
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

  /** Reads `(url "title")`; `open` says that the text ended inside it. */
  #target(start) {
    if (this.#text[start] !== "(") return null;
    const end = this.#targetEnd(start + 1);
    if (end < 0) return null;
    const open = end === this.#text.length;
    if (open && !this.#partial) return null;
    const [, bracketed, bare] = /^\s*(?:<([^<>\n]*)>|(\S*))/.exec(this.#text.slice(start + 1, end));
    return { open, url: bracketed ?? bare.replace(/\\([!-/:-@[-`{-~])/g, "$1"), end: open ? end : end + 1 };
  }

  /** The closing parenthesis, the text's length when it ends first, or -1. Each `](` adds a level, so it is linear. */
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

/** Line ends in code are spaces, and one space at each end is only there to keep backticks apart. */
function codeText(text) {
  const line = text.replaceAll("\n", " ");
  const padded = line.length > 2 && line[0] === " " && line.at(-1) === " " && line.trim() !== "";
  return padded ? line.slice(1, -1) : line;
}

/** Writes delimiter runs out: what they close, what is left of them as text, what they open. */
function flatten(tokens) {
  const flat = new Flat();
  for (const token of tokens) {
    if (token.kind !== "run") {
      flat.add(token);
      continue;
    }
    for (let n = 0; n < token.closes.length; n += 1) flat.add({ kind: "close" });
    if (token.count > 0) flat.add({ kind: "text", text: token.char.repeat(token.count) });
    for (const tag of token.opens.reverse()) flat.add({ kind: "open", tag });
  }
  return flat.tokens;
}

/** The tokens as they are given out: pieces of text joined, and what is nested too deeply left out but for its text. */
class Flat {
  tokens = [];
  #levels = [];
  #depth = 0;

  add(token) {
    if (token.kind === "open") this.#open(token);
    else if (token.kind === "close") this.#close(token);
    else if (token.kind === "text") this.#text(token.text);
    else this.tokens.push(token);
  }

  #open(token) {
    const kept = this.#depth < MAX_NESTING;
    this.#levels.push(kept);
    if (!kept) return;
    this.#depth += 1;
    this.tokens.push(token);
  }

  #close(token) {
    if (!this.#levels.pop()) return;
    this.#depth -= 1;
    this.tokens.push(token);
  }

  #text(text) {
    const last = this.tokens.at(-1);
    if (last?.kind === "text") last.text += text;
    else this.tokens.push({ kind: "text", text });
  }
}
