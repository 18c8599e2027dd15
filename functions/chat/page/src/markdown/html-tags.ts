// The HTML tags that an answer may use: line breaks, small text styles and foldable sections. Attributes are ignored.

import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

const TAG = /<(\/?)(br|sub|sup|kbd|mark|u)\s*\/?>/iy;
/** The longest comment; the limit keeps the search for its end linear. */
const MAX_COMMENT = 2000;
const DETAILS = /^<details(?:\s+open)?>\s*(?:<summary>(.*?)<\/summary>)?$/i;
const SUMMARY = /^<summary>(.*?)<\/summary>$/i;

/** Adds the rules. */
export function addHtmlTags(parser: MarkdownIt): void {
  parser.inline.ruler.before("autolink", "html_tag", inlineTag);
  parser.block.ruler.before("lheading", "details", details, { alt: ["paragraph", "blockquote", "list"] });
}

function inlineTag(state: StateInline, silent: boolean): boolean {
  if (state.src[state.pos] !== "<") return false;
  const comment = state.src.startsWith("<!--", state.pos)
    ? state.src.slice(state.pos, state.pos + MAX_COMMENT).indexOf("-->", 4)
    : -1;
  if (comment > 0) {
    state.pos += comment + 3;
    return true;
  }
  TAG.lastIndex = state.pos;
  const found = TAG.exec(state.src);
  if (!found) return false;
  if (!silent) push(state, (found[2] ?? "").toLowerCase(), found[1] === "/");
  state.pos += found[0].length;
  return true;
}

function push(state: StateInline, tag: string, closing: boolean): void {
  if (tag === "br") state.push("hardbreak", "br", 0);
  else state.push(closing ? "html_close" : "html_open", tag, 0).markup = tag;
}

/** A line with `<details>`, its summary, `</details>` or a comment; the lines in between are blocks like any other. */
function details(state: StateBlock, line: number, _end: number, silent: boolean): boolean {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  if (state.src[start] !== "<") return false;
  const text = state.src.slice(start, state.eMarks[line]).trim();
  const opening = DETAILS.exec(text);
  const summary = opening ? opening[1] : SUMMARY.exec(text)?.[1];
  const closing = /^<\/details>$/i.test(text);
  const comment = /^<!--.*-->$/.test(text);
  if (!opening && summary === undefined && !closing && !comment) return false;
  if (silent) return true;
  const token = (type: string, tag: string) => {
    const pushed = state.push(type, tag, 0);
    pushed.markup = tag;
    pushed.map = [line, line + 1];
    return pushed;
  };
  if (opening) token("html_open", "details");
  if (summary !== undefined) {
    token("html_open", "summary");
    const inline = token("inline", "");
    inline.content = summary;
    inline.children = [];
    token("html_close", "summary");
  }
  if (closing) token("html_close", "details");
  state.line = line + 1;
  return true;
}
