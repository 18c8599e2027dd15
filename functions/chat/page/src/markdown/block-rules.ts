// Blocks that models write in addition to CommonMark: headings without a space before Chinese text, and task lists.

import type { MarkdownIt, StateBlock, StateCore, Token } from "markdown-it";

import { isWide } from "./links.ts";

const HEADING = /^(#{2,6})([^\s#].*)$/u;
const TASK = /^\[([ xX])\](?:\s+|$)/;

/** Adds the rules. */
export function addBlockRules(parser: MarkdownIt): void {
  parser.block.ruler.before("lheading", "wide_heading", wideHeading, { alt: ["paragraph", "blockquote"] });
  parser.core.ruler.before("inline", "tasks", markTasks);
}

/** `##标题`: without a space, which CommonMark needs; one `#` stays text, because it can begin a hashtag. */
function wideHeading(state: StateBlock, line: number, _end: number, silent: boolean): boolean {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  if (state.src[start] !== "#" || (state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  const [, marks = "", text = ""] = HEADING.exec(state.src.slice(start, state.eMarks[line])) ?? [];
  if (!isWide(text.slice(0, 2))) return false;
  if (silent) return true;
  const tag = `h${marks.length}`;
  state.push("heading_open", tag, 1).map = [line, line + 1];
  const inline = state.push("inline", "", 0);
  inline.content = text.replace(/\s+#+\s*$/, "").trim();
  inline.map = [line, line + 1];
  inline.children = [];
  state.push("heading_close", tag, -1);
  state.line = line + 1;
  return true;
}

/** Moves `[ ]` and `[x]` from the beginning of a list item to the item's token. */
function markTasks(state: StateCore): void {
  state.tokens.forEach((token, at) => {
    if (token.type !== "inline") return;
    const item = itemBefore(state.tokens, at);
    const found = item && TASK.exec(token.content);
    if (!found) return;
    item.meta = { done: found[1] !== " " };
    token.content = token.content.slice(found[0].length);
  });
}

/** The list item that the inline token at `at` begins. */
function itemBefore(tokens: Token[], at: number): Token | undefined {
  const [item, paragraph] = [tokens[at - 2], tokens[at - 1]];
  return paragraph?.type === "paragraph_open" && item?.type === "list_item_open" ? item : undefined;
}
