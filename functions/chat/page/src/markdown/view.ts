// Renders a growing Markdown text and updates its elements.

import { colourCode } from "./colours.ts";
import { parse, type Env } from "./parser.ts";
import { renderBlocks, type Block, type Context } from "./render.ts";

/** Texts up to this length, in characters, are parsed on each render. */
const SMALL_TEXT = 16 * 1024;

/** A longer text is parsed again after it has grown by this fraction (one sixteenth). */
const GROWTH_DIVISOR = 16;

/** A line end of markers only, whose meaning depends on the text that follows. */
const MARKS_ONLY = /(?:(?:^|\n)[ \t>]*(?:[-*_#`~|+=$:]{1,3}|\d{1,3}[.)]?)[ \t]*|[*_~`\\$]{1,3})$/;

/** Markers at the end of a cut text after which nothing came: of a list, a heading or a fence, or of emphasis and code. */
const OPENERS = /(?:(?:^|\n)[ \t>]*(?:[-*_#`~+=]{1,3}|\d{1,3}[.)])[ \t]*|\s[*_~`]{1,3})$/;

/** A definition of a link or a footnote, which changes text before it. */
const DEFINITION = /^[ >]{0,6}\[[^\]\n]{1,200}\]:/m;

let views = 0;

const NO_CONTEXT = { cite: () => null, hasSources: () => false, isDocument: () => false };

/** Renders a growing text into `root`. */
export class MarkdownView {
  #root: HTMLElement;
  #context: Context;
  #env: Env = { partial: true };
  /** The parts of the text whose blocks are final. */
  #settled: string[] = [];
  #open = "";
  #nodes: HTMLElement[] = [];
  #rendered = 0;

  constructor(root: HTMLElement, context: Omit<Context, "prefix"> = NO_CONTEXT) {
    views += 1;
    this.#root = root;
    this.#context = { ...context, prefix: `md${views}` };
  }

  /** Adds text, which the next `render` or `finish` shows. */
  push(text: string): void {
    this.#open += text.replaceAll("\r", "");
  }

  /**
   * Shows the pushed text; call it at most once per frame.
   *
   * It parses only the open end of the text, because no other part can change. A long end waits until it has grown by a
   * fixed fraction, so the total work stays linear in the text.
   */
  render(): void {
    const grown = this.#open.length - this.#rendered;
    if (grown === 0 || (this.#open.length > SMALL_TEXT && grown * GROWTH_DIVISOR < this.#open.length)) return;
    const held = MARKS_ONLY.exec(this.#open.slice(-40))?.[0].trimStart().length ?? 0;
    const text = this.#open.slice(0, this.#open.length - held);
    const blocks = this.#show(text, true);
    this.#settle(text, blocks);
    this.#rendered = this.#open.length;
  }

  /** Shows the whole text, in which what a cut left open counts as closed; `push` must not be called afterwards. */
  finish(cut = false): void {
    const whole = this.#settled.join("") + this.#open;
    if (this.#settled.length > 0 && DEFINITION.test(whole)) this.#restart(whole);
    this.#show(cut ? this.#open.replace(OPENERS, "") : this.#open, cut, true);
    this.#nestHeadings();
    colourCode(this.#root);
  }

  /** Sets levels without gaps for screen readers: many answers begin with a heading of the second or third level. */
  #nestHeadings(): void {
    const open: string[] = [];
    for (const heading of this.#root.querySelectorAll("h3,h4,h5,h6")) {
      while (open.length > 0 && (open.at(-1) ?? "") >= heading.tagName) open.pop();
      open.push(heading.tagName);
      heading.setAttribute("aria-level", `${open.length + 2}`);
    }
  }

  /** Makes the whole text open again: a definition may have changed any block. */
  #restart(whole: string): void {
    this.#settled = [];
    this.#open = whole;
    this.#nodes = [...this.#root.children] as HTMLElement[];
  }

  #show(text: string, partial: boolean, footnotes = !partial): Block[] {
    this.#env = { ...(partial && { references: this.#env.references ?? {} }), partial };
    const blocks = renderBlocks(parse(text, this.#env), this.#context).filter(
      ({ node }) => footnotes || !node.classList.contains("footnotes"),
    );
    for (const surplus of this.#nodes.slice(blocks.length)) surplus.remove();
    this.#nodes = blocks.map(({ node }, n) => this.#mergeOrAppend(this.#nodes[n], node));
    return blocks;
  }

  #mergeOrAppend(old: HTMLElement | undefined, fresh: HTMLElement): HTMLElement {
    if (old) return merge(old, fresh) as HTMLElement;
    this.#root.append(fresh);
    return fresh;
  }

  /**
   * Drops the blocks that later text cannot change: all before the last block with a certain start. A start is certain
   * once the block's first line is complete, and for a table its second line too.
   */
  #settle(text: string, blocks: Block[]): void {
    const complete = text.split("\n").length - 1;
    const last = blocks.findLastIndex(({ line, certainAfter }) => line + certainAfter <= complete);
    const line = blocks[last]?.line ?? 0;
    if (last <= 0 || line === 0 || blocks[last - 1]?.line === line) return;
    const at = lineStart(text, line);
    this.#settled.push(this.#open.slice(0, at));
    this.#open = this.#open.slice(at);
    const settled = this.#nodes.slice(0, last);
    this.#nodes = this.#nodes.slice(last);
    if (settled.some((node) => node.classList.contains("code") || node.querySelector(".code"))) colourCode(this.#root);
  }
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let n = 0; n < line; n += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

/** Updates `old` to equal `fresh`; keeps equal nodes, and with them the selection and the focus. */
function merge(old: Node, fresh: Node): Node {
  if (old instanceof Text && fresh instanceof Text) {
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.data.length));
    else old.data = fresh.data;
    return old;
  }
  if (!old.cloneNode(false).isEqualNode(fresh.cloneNode(false))) {
    old.parentNode?.replaceChild(fresh, old);
    return fresh;
  }
  const [current, wanted] = [[...old.childNodes], [...fresh.childNodes]];
  wanted.forEach((node, n) => {
    const kept = current[n];
    if (!kept) old.appendChild(node);
    else if (!kept.isEqualNode(node)) merge(kept, node);
  });
  for (const surplus of current.slice(wanted.length)) surplus.remove();
  return old;
}
