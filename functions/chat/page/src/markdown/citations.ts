// Citations of sources: `[1]`, lists such as `[1, 3]` and ranges such as `[2-4]`.

import type { MarkdownIt, StateInline } from "markdown-it";

const CITATION = /\[(\d{1,3}(?:(?: ?[,，、] ?| ?[-–] ?)\d{1,3})*)\](?!\()/y;
const MAX_RANGE = 50;

/** Adds the rule. A label that the text defines as a link reference stays a link. */
export function addCitations(parser: MarkdownIt): void {
  parser.inline.ruler.before("link", "citation", citation);
}

function citation(state: StateInline, silent: boolean): boolean {
  CITATION.lastIndex = state.pos;
  const found = CITATION.exec(state.src);
  const list = found?.[1];
  if (!found || list === undefined || state.env.references?.[list]) return false;
  // A definition of a link that is not complete yet.
  if (state.src[CITATION.lastIndex] === ":" && (state.pos === 0 || state.src[state.pos - 1] === "\n")) return false;
  if (!silent) {
    const token = state.push("cite", "", 0);
    token.content = found[0];
    token.meta = { numbers: citedNumbers(list) };
  }
  state.pos += found[0].length;
  return true;
}

/** The numbers of `1, 3-5`; a range that is none, or that is too long, has its ends only. */
function citedNumbers(list: string): number[] {
  return list.split(/[,，、]/).flatMap((member) => {
    const [first = 0, last = first] = member.split(/[-–]/).map(Number);
    const length = last - first + 1;
    if (length < 1 || length > MAX_RANGE) return [first, last];
    return Array.from({ length }, (_, n) => first + n);
  });
}
