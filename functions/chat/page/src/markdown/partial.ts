// Rules for the end of a text that may continue: open emphasis, code and links count as closed, so that a streamed answer
// does not flicker.

import type { MarkdownIt, StateCore, StateInline } from "markdown-it";

const OPEN_LINK = /!?\[([^[\]\n]{0,500})\]\([^()\n]{0,2000}$/y;
const FOOTNOTE = /\[\^([^\]\s]{1,100})\]/y;
/** `*`, `_` and `~`. */
const MARKERS = new Set([0x2a, 0x5f, 0x7e]);

/** Adds the rules. */
export function addPartialRules(parser: MarkdownIt): void {
  parser.core.ruler.at("inline", (state) => parseInline(parser, state));
  parser.inline.ruler.before("backticks", "open_code", openCode);
  parser.inline.ruler.before("link", "open_link", (state, silent) => !!state.env.tail && pending(state, silent, OPEN_LINK, "text"));
  parser.inline.ruler.push("pending_footnote", (state, silent) => !!state.env.partial && pending(state, silent, FOOTNOTE, "footnote_pending"));
  parser.inline.ruler2.after("balance_pairs", "close_emphasis", closeEmphasis);
}

/** The delimiters that are closed at the end of a text. */
const MAX_CLOSED = 8;

/** Parses the inline text of each block; the rules below apply only to one that ends the text. */
function parseInline(parser: MarkdownIt, state: StateCore): void {
  const last = state.tokens.findLastIndex(({ nesting }) => nesting !== -1);
  state.tokens.forEach((token, at) => {
    if (token.type !== "inline") return;
    state.env.tail = state.env.partial && at === last;
    parser.inline.parse(token.content, parser, state.env, token.children ?? []);
  });
}

/** A code span without an end. */
function openCode(state: StateInline, silent: boolean): boolean {
  if (!state.env.tail || state.src[state.pos] !== "`") return false;
  const marker = /^`+/.exec(state.src.slice(state.pos))?.[0] ?? "`";
  const start = state.pos + marker.length;
  if (start === state.src.length || new RegExp(`(?<!\`)${marker}(?!\`)`).test(state.src.slice(start))) return false;
  if (!silent) state.push("code_inline", "code", 0).content = state.src.slice(start).replace(/\n/g, " ");
  state.pos = state.src.length;
  return true;
}

/** A link whose target is incomplete, of which only the text is shown, or a footnote whose text has not arrived yet. */
function pending(state: StateInline, silent: boolean, pattern: RegExp, type: string): boolean {
  pattern.lastIndex = state.pos;
  const found = pattern.exec(state.src);
  if (!found) return false;
  if (!silent) state.push(type, "", 0).content = found[1] ?? "";
  state.pos += found[0].length;
  return true;
}

/**
 * Adds a closer for each open delimiter at the end of the text, in the form that markdown-it's own rules for emphasis
 * read afterwards. A single `*` or `_` may be no emphasis at all, so it stays, unless the block begins with it.
 */
function closeEmphasis(state: StateInline): boolean {
  if (!state.env.tail || state.level > 0) return false;
  const { delimiters } = state;
  const known = delimiters.length;
  for (let at = known - 1; at >= 0 && delimiters.length < known + MAX_CLOSED; at -= 1) {
    const [inner, outer] = [delimiters[at], delimiters[at - 1]];
    if (!inner || !isOpen(inner)) continue;
    if (inner.marker === TILDE || inner.token === 0) close(state, inner);
    else if (outer && isOpen(outer) && outer.marker === inner.marker && outer.token === inner.token - 1) {
      close(state, inner);
      close(state, outer);
      at -= 1;
    }
  }
  return false;
}

type Delimiter = StateInline["delimiters"][number];

/** The delimiter of `~~`, which is one token; the tokens of `*` and `_` have one character each. */
const TILDE = 0x7e;

function isOpen({ open, end, marker }: Delimiter): boolean {
  return open && end === -1 && MARKERS.has(marker);
}

function close(state: StateInline, opener: Delimiter): void {
  state.push("text", "", 0);
  state.delimiters.push({ ...opener, open: false, close: true, end: -1, token: state.tokens.length - 1 });
  opener.end = state.delimiters.length - 1;
}
