// Formulas in TeX: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and environments such as `\begin{align}`.

import type { MarkdownIt, StateBlock, StateInline } from "markdown-it";

/** The longest formula, in characters and in lines; the limits keep the search for its end linear. */
const MAX_CHARS = 4000;
const MAX_LINES = 200;

const ENVIRONMENT = /^\\begin\{((?:equation|align|aligned|gather|multline|cases|array|[pbvB]?matrix)\*?)\}/;

/** Adds the rules. They come before escapes, which would remove the backslashes of TeX. */
export function addMaths(parser: MarkdownIt): void {
  parser.inline.ruler.before("escape", "math_inline", inlineMath);
  parser.block.ruler.before("fence", "math_block", blockMath, { alt: ["paragraph", "blockquote", "list"] });
}

function inlineMath(state: StateInline, silent: boolean): boolean {
  const found = formulaAt(state.src, state.pos);
  if (!found) return false;
  if (!silent) {
    const token = state.push("math", "", 0);
    token.content = found.tex.trim();
    token.meta = { display: found.display };
  }
  state.pos = found.end;
  return true;
}

interface Formula {
  tex: string;
  end: number;
  display: boolean;
}

function formulaAt(text: string, at: number): Formula | null {
  if (text.startsWith("\\(", at)) return delimited(text, at, "\\)", false);
  if (text.startsWith("\\[", at)) return delimited(text, at, "\\]", true);
  if (text.startsWith("$$", at)) return delimited(text, at, "$$", true);
  return text[at] === "$" ? dollars(text, at) : null;
}

function delimited(text: string, at: number, close: string, display: boolean): Formula | null {
  const end = nextClose(text, close, at + 2);
  if (end > at + MAX_CHARS) return null;
  const tex = text.slice(at + 2, end);
  return /[\p{L}\p{N}]/u.test(tex) ? { tex, end: end + close.length, display } : null;
}

/** The last search for each closing mark, so that a text with many opening marks is searched once. */
const searches = new Map<string, { text: string; from: number; at: number }>();

/** The index of the first closing mark at or after `from`; infinite without one. */
function nextClose(text: string, close: string, from: number): number {
  const known = searches.get(close);
  if (known && known.text === text && from >= known.from && from <= known.at) return known.at;
  const found = text.indexOf(close, from);
  const at = found < 0 ? Infinity : found;
  searches.set(close, { text, from, at });
  return at;
}

/** `$…$`: no space inside the dollars and no digit after them, so that prices stay text. */
function dollars(text: string, at: number): Formula | null {
  if (/[\s$]/.test(text[at + 1] ?? " ")) return null;
  let end = at + 1;
  do {
    end = text.indexOf("$", end + 1);
  } while (end > 0 && text[end - 1] === "\\" && end < at + MAX_CHARS);
  if (end < 0 || end > at + MAX_CHARS) return null;
  if (/\s/.test(text[end - 1] ?? "") || /[\d$]/.test(text[end + 1] ?? "")) return null;
  return { tex: text.slice(at + 1, end), end: end + 1, display: false };
}

/** A formula whose first line begins with `$$`, `\[` or an environment, and that ends at the end of a line. */
function blockMath(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const lineText = (line: number) =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);
  const first = lineText(startLine);
  const fence = fenceOf(first);
  if (!fence || (state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const lines = [first.slice(fence.skip)];
  let line = startLine;
  const last = Math.min(endLine, startLine + MAX_LINES);
  while (!closes(lines, fence.close) && line + 1 < last) {
    line += 1;
    if ((state.sCount[line] ?? 0) < state.blkIndent && !state.isEmpty(line)) return false;
    lines.push(lineText(line));
  }
  const closed = closes(lines, fence.close);
  if (!closed && !(state.env.partial && line + 1 >= endLine)) return false;
  if (silent) return true;
  const text = lines.join("\n");
  const token = state.push("math", "", 0);
  token.content = (closed && !fence.keep ? text.trimEnd().slice(0, -fence.close.length) : text).trim();
  token.meta = { display: true, open: !closed, block: true };
  token.map = [startLine, line + 1];
  state.line = line + 1;
  return true;
}

function closes(lines: string[], close: string): boolean {
  const text = (lines.at(-1) ?? "").trimEnd();
  return text.endsWith(close) && (lines.length > 1 || text.length > close.length);
}

function fenceOf(line: string): { close: string; skip: number; keep: boolean } | null {
  if (line.startsWith("$$")) return { close: "$$", skip: 2, keep: false };
  if (line.startsWith("\\[")) return { close: "\\]", skip: 2, keep: false };
  const environment = ENVIRONMENT.exec(line)?.[1];
  return environment ? { close: `\\end{${environment}}`, skip: 0, keep: true } : null;
}
