// Renders Markdown as DOM elements and updates them while the text grows.
//
// **Invariant:** no content becomes markup. Text becomes text nodes, links carry only URLs that `safeHref` accepts,
// images become links, and HTML stays text. So the text of a model or a web page cannot run code or load anything.

import { el } from "./dom.js";
import { parseBlocks } from "./markdown-blocks.js";
import { parseInline } from "./markdown-inline.js";

/** Blocks up to this length, in characters, are parsed on each render. */
const SMALL_BLOCK = 16 * 1024;

/** A longer block is parsed again after it has grown by this fraction (one sixteenth). */
const GROWTH_DIVISOR = 16;

/** A line end of markers only, whose meaning depends on the text that follows. */
const MARKS_ONLY = /(?:^|\n)[ \t>]*(?:[-*_#`~|+=]{1,3}|\d{1,3}[.)]?)$/;

/** Renders a growing text into `root`. `cite` returns the source of a citation's number, or null. */
export class MarkdownView {
  #root;
  #cite;
  #open = "";
  #nodes = [];
  #rendered = 0;

  constructor(root, cite = () => null) {
    this.#root = root;
    this.#cite = cite;
  }

  /** Adds text, which the next `render` or `finish` shows. */
  push(text) {
    this.#open += text.replaceAll("\r", "");
  }

  /**
   * Shows the pushed text; call it at most once per frame.
   *
   * It parses only the last block, because no other can change. A long block waits until it has grown by a fixed
   * fraction, so the total work stays linear in the text.
   */
  render() {
    const grown = this.#open.length - this.#rendered;
    if (grown === 0 || (this.#open.length > SMALL_BLOCK && grown * GROWTH_DIVISOR < this.#open.length)) return;
    const held = MARKS_ONLY.exec(this.#open.slice(-40))?.[0].trimStart().length ?? 0;
    this.#show(this.#open.slice(0, this.#open.length - held), true);
  }

  /** Shows the whole text; `push` must not be called afterwards. */
  finish() {
    this.#show(this.#open, false);
  }

  #show(text, partial) {
    const blocks = parseBlocks(text, partial);
    const fresh = blocks.map((block, n) =>
      blockElement(block, { cite: this.#cite, partial: partial && n === blocks.length - 1 }),
    );
    for (const surplus of this.#nodes.slice(fresh.length)) surplus.remove();
    this.#nodes = fresh.map((node, n) => this.#mergeOrAppend(this.#nodes[n], node));
    if (partial) this.#settle(text, blocks);
    this.#rendered = this.#open.length;
  }

  #mergeOrAppend(old, fresh) {
    if (old) return merge(old, fresh);
    this.#root.append(fresh);
    return fresh;
  }

  /**
   * Drops the blocks that later text cannot change: all before the last block with a certain start. A start is certain
   * once the block's first line is complete, and for a table its second line too.
   */
  #settle(text, blocks) {
    const complete = text.split("\n").length - 1;
    const last = blocks.findLastIndex(({ type, line }) => (type === "table" ? line + 1 : line) < complete);
    if (last <= 0) return;
    this.#open = this.#open.slice(lineStart(text, blocks[last].line));
    this.#nodes = this.#nodes.slice(last);
  }
}

function lineStart(text, line) {
  let at = 0;
  for (let n = 0; n < line; n += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

/** Updates `old` to equal `fresh`; keeps equal nodes, and with them the selection and the focus. */
function merge(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE && fresh.nodeType === Node.TEXT_NODE) {
    if (fresh.data.startsWith(old.data)) old.appendData(fresh.data.slice(old.data.length));
    else old.data = fresh.data;
    return old;
  }
  if (!old.cloneNode(false).isEqualNode(fresh.cloneNode(false))) {
    old.replaceWith(fresh);
    return fresh;
  }
  const [current, wanted] = [[...old.childNodes], [...fresh.childNodes]];
  wanted.forEach((node, n) => {
    if (!current[n]) old.append(node);
    else if (!current[n].isEqualNode(node)) merge(current[n], node);
  });
  for (const surplus of current.slice(wanted.length)) surplus.remove();
  return old;
}

const ELEMENTS = {
  paragraph: (block, context) => inline(el("p"), block.text, context),
  heading: (block, context) =>
    inline(el(`h${Math.min(block.level + 2, 6)}`, { class: `level-${block.level}` }), block.text, context),
  rule: () => el("hr"),
  quote: (block, context) => el("blockquote", {}, elements(block.blocks, context)),
  code: codeElement,
  list: listElement,
  table: tableElement,
};

function blockElement(block, context) {
  return ELEMENTS[block.type](block, context);
}

/** The elements of inner blocks; only the last one can be partial. */
function elements(blocks, context) {
  return blocks.map((block, n) =>
    blockElement(block, { ...context, partial: context.partial && n === blocks.length - 1 }),
  );
}

function codeElement(block) {
  const copy = el("button", { type: "button", class: "copy-code", "data-copy": "code" }, "Copy");
  const head = el("div", { class: "code-head" }, el("span", {}, block.language || "text"), copy);
  return el("div", { class: "code" }, head, el("pre", { tabindex: "0" }, el("code", {}, block.text)));
}

function listElement(block, context) {
  const last = block.items.length - 1;
  const items = block.items.map((blocks, n) =>
    el("li", {}, elements(blocks, { ...context, partial: context.partial && n === last })),
  );
  const start = block.ordered && block.start !== 1 && String(block.start);
  return el(block.ordered ? "ol" : "ul", { class: block.loose ? "loose" : "tight", start }, items);
}

function tableElement(block, { cite }) {
  const row = (tag, cells) =>
    el(
      "tr",
      {},
      cells.map((text, n) => tableCell(tag, text, block.align[n], cite)),
    );
  const head = el("thead", {}, row("th", block.header));
  const body = el(
    "tbody",
    {},
    block.rows.map((cells) => row("td", cells)),
  );
  const table = el("table", {}, head, body);
  return el("div", { class: "table", tabindex: "0", role: "group", "aria-label": "Table" }, table);
}

function tableCell(tag, text, side, cite) {
  return inline(el(tag, { class: side && `align-${side}` }), text, { cite, partial: false });
}

/** Renders a block's text into `parent`. */
function inline(parent, text, context) {
  const stack = [parent];
  for (const token of parseInline(text, context.partial)) {
    if (token.kind === "close") {
      stack.pop();
      continue;
    }
    const node = INLINE[token.kind](token, context);
    stack.at(-1).append(node);
    if (token.kind === "open") stack.push(node);
  }
  return parent;
}

const INLINE = {
  open: (token) => (token.tag === "a" ? link(token.href) : el(token.tag)),
  text: (token) => token.text,
  code: (token) => el("code", {}, token.text),
  break: () => el("br"),
  cite: (token, context) => citations(token, token.numbers.map(context.cite)),
};

/** The links of a citation such as `[1]` or `[1, 2]`; its text if one of its sources is missing. */
function citations({ numbers, text }, sources) {
  if (sources.some((source) => !source)) return text;
  const links = numbers.map((number, n) => citation(number, sources[n]));
  return links.length === 1 ? links[0] : el("span", {}, ...links);
}

function citation(number, source) {
  return el("sup", { class: "cite" }, link(source.url, source.title, `Source ${number}`, String(number)));
}

/** A link without a referrer, with its target as tooltip; `href` must come from `safeHref`. */
export function link(href, title = href, label = null, ...children) {
  const rel = "noopener noreferrer nofollow";
  return el("a", { href, title, target: "_blank", rel, "aria-label": label }, ...children);
}
