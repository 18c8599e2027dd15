// Makes elements of Markdown tokens.
//
// **Invariant:** no content becomes markup. Text becomes text nodes, links carry only URLs that `safeHref` accepts, and
// images become links. So the text of a model or a web page cannot run code or load anything.

import type { Token } from "markdown-it";

import type { Source } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { el, link, type Child } from "../view/dom.ts";
import { codeReference, type DocumentReference } from "./document-references.ts";
import { formulaElement, type FormulaForm } from "./formula.ts";
import { safeHref, sourceHref } from "./links.ts";

/** What a text refers to outside of itself. */
export interface Context {
  /** The source with a number, or null. */
  cite: (number: number) => Source | null;
  /** Whether there is any source; without one, `[1]` is text. */
  hasSources: () => boolean;
  /** Whether a path can be a document; else `a.md:1` is text. */
  isDocument: (path: string) => boolean;
  /** A prefix of ids, unique in the document. */
  prefix: string;
}

/** A block on the top level, and its first line. */
export interface Block {
  node: HTMLElement;
  line: number;
  /** The number of lines from the first one that make its beginning certain; infinite for an open formula. */
  certainAfter: number;
}

/** The elements of a text's tokens. */
export function renderBlocks(tokens: Token[], context: Context): Block[] {
  const builder = new Builder(context);
  const blocks: Block[] = [];
  let line = 0;
  for (const token of tokens) {
    const before = builder.root.lastChild;
    line = token.map?.[0] ?? line;
    builder.add(token);
    const node = builder.root.lastChild;
    if (node !== null && node !== before) blocks.push({ node: node as HTMLElement, line, certainAfter: certainAfter(token) });
  }
  return blocks;
}

function certainAfter({ type, meta, map }: Token): number {
  // Text after the closing marker makes a formula part of a paragraph.
  if (type === "math") return meta?.open || !map ? Infinity : map[1] - map[0];
  return type === "table_open" ? 2 : 1;
}

/** Elements below this depth become text. */
const MAX_DEPTH = 60;

type Handler = (builder: Builder, token: Token) => void;

/** A cell with so little Chinese stays on one line, since a break could split a term: the frame of the table scrolls. */
const SHORT_CELL = /^(?=.*\p{Script=Han}).{1,12}$/u;

/** A text whose first letter is of a script from right to left. */
const RIGHT_TO_LEFT = /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** The open elements and the handlers of tokens. */
class Builder {
  root = el("div");
  readonly context: Context;
  #stack: { node: HTMLElement; name: string }[] = [];

  constructor(context: Context) {
    this.context = context;
  }

  get #top(): HTMLElement {
    return this.#stack.at(-1)?.node ?? this.root;
  }

  /** Appends what refers to a document: as a button, which links cannot contain. */
  appendReference(reference: DocumentReference | null, label: Child): void {
    const opens = reference && this.context.isDocument(reference.path) && !this.#stack.some(({ name }) => name === "a");
    this.append(opens ? passageButton(reference, label) : label);
  }

  add(token: Token): void {
    const handler = HANDLERS[token.type];
    if (handler) handler(this, token);
    else if (token.nesting === 1) this.open(el(token.tag), token.tag);
    else if (token.nesting === -1) this.close(token.tag);
    else if (token.content !== "") this.append(token.content);
  }

  append(...children: Child[]): void {
    for (const child of children.flat()) this.#top.append(child as Node | string);
  }

  /** Appends an element and makes it the parent of what follows; `inner` is the parent if it differs. */
  open(node: HTMLElement, name: string, inner = node): void {
    const deep = this.#stack.length >= MAX_DEPTH;
    if (!deep) this.append(node);
    this.#stack.push({ node: deep ? this.#top : inner, name });
  }

  /** Closes the innermost element with this name, and all in it; a closer without an opener has no effect. */
  close(name: string, floor = 0): void {
    const at = this.#stack.findLastIndex((open) => open.name === name);
    if (at >= floor) this.#stack.length = at;
  }

  /** Adapts what contains a text: the marks of a list go to the right if its first text begins there, short cells have one line. */
  adapt(text: string): void {
    const { node, name } = this.#stack.at(-1) ?? {};
    if ((name === "td" || name === "th") && SHORT_CELL.test(text)) node?.classList.add("short");
    const list = this.#stack.findLast(({ name }) => name === "ol" || name === "ul")?.node;
    if (list?.childElementCount === 1 && RIGHT_TO_LEFT.test(text)) list.dir = "rtl";
  }

  /** Adds the children of an inline token; elements that they leave open end with them. */
  inline(token: Token): void {
    const depth = this.#stack.length;
    for (const child of token.children ?? []) this.add(child);
    this.#stack.length = Math.min(this.#stack.length, depth);
  }

  /** Removes one space at the end of the text so far, and glues what follows to it. */
  glue(): void {
    const last = this.#top.lastChild;
    if (!(last instanceof Text)) return;
    if (last.data.endsWith(" ")) last.data = last.data.slice(0, -1);
    this.append("\u2060");
  }
}

/** The links to pictures, which open in a dialog. */
export const pictureLinks = new WeakSet<Element>();

const HANDLERS: Record<string, Handler> = {
  inline: (builder, token) => {
    builder.adapt(token.content);
    builder.inline(token);
  },
  text: (builder, token) => {
    if (token.content !== "") builder.append(token.content);
  },
  hr: (builder) => builder.append(el("hr")),
  softbreak: (builder) => builder.append(el("br")),
  hardbreak: (builder) => builder.append(el("br")),
  paragraph_open: (builder, token) => {
    if (!token.hidden) builder.open(el("p"), "p");
  },
  paragraph_close: (builder, token) => {
    if (!token.hidden) builder.close("p");
  },
  heading_open: (builder, token) => {
    const level = Number(token.tag.slice(1));
    builder.open(el(`h${Math.min(level + 2, 6)}`, { class: `level-${level}` }), token.tag);
  },
  list_item_open: (builder, token) => builder.open(listItem(token), "li"),
  ordered_list_open: (builder, token) => builder.open(el("ol", { start: token.attrGet("start") }), "ol"),
  table_open: (builder) => {
    const table = el("table");
    const group = el("div", { class: "table", tabindex: "0", role: "group", "aria-label": t.table }, table);
    builder.open(group, "table", table);
  },
  th_open: (builder, token) => builder.open(el("th", { class: alignment(token) }), "th"),
  td_open: (builder, token) => builder.open(el("td", { class: alignment(token) }), "td"),
  fence: (builder, token) => builder.append(codeElement(token.content, token.info)),
  code_block: (builder, token) => builder.append(codeElement(token.content, "")),
  code_inline: (builder, { content }) => builder.appendReference(codeReference(content), el("code", { class: content.length < 24 && "short" }, content)),
  document_reference: (builder, { content, meta }) => builder.appendReference(meta as unknown as DocumentReference, content),
  link_open: (builder, token) => {
    const href = safeHref(attribute(token, "href"));
    builder.open(href ? link(href, title(token)) : el("span"), "a");
  },
  image: (builder, token) => {
    const href = safeHref(attribute(token, "src"));
    const text = plainText(token) || attribute(token, "src");
    const picture = href ? link(href, {}, text) : text;
    if (picture instanceof Element) pictureLinks.add(picture);
    builder.append(picture);
  },
  math: (builder, token) => builder.append(formulaElement(token.content, token.meta as unknown as FormulaForm)),
  cite: (builder, token) => cite(builder, token),
  html_open: (builder, token) => builder.open(el(token.markup), token.markup),
  html_close: (builder, token) => builder.close(token.markup),
  footnote_pending: (builder, token) => builder.append(el("sup", { class: "footnote-ref" }, token.content)),
  footnote_ref: (builder, token) => {
    builder.glue();
    builder.append(footnoteReference(builder.context, token));
  },
  footnote_block_open: (builder) => {
    const list = el("ol");
    builder.open(el("section", { class: "footnotes", "aria-label": t.answer.footnotes }, list), "section", list);
  },
  footnote_block_close: (builder) => builder.close("section"),
  footnote_open: (builder, token) => {
    const id = `${builder.context.prefix}-fn-${footnoteOf(token).id + 1}`;
    builder.open(el("li", { id, tabindex: "-1" }), "footnote");
  },
  footnote_close: (builder) => builder.close("footnote"),
  footnote_anchor: (builder, token) => builder.append(" ", footnoteBack(builder.context, token)),
};

/** The text of an inline token without its marks. */
function plainText({ children }: Token): string {
  return (children ?? []).map((child) => (child.type === "image" ? plainText(child) : child.content)).join("");
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? "");
}

function title(token: Token): Record<string, string> {
  const text = attribute(token, "title");
  return text ? { title: text } : {};
}

function alignment(token: Token): string | null {
  const style = attribute(token, "style");
  return style ? style.replace("text-align:", "align-") : null;
}

function listItem(token: Token): HTMLElement {
  if (!token.meta) return el("li");
  const done = token.meta.done === true;
  const label = done ? t.answer.taskDone : t.answer.taskOpen;
  return el("li", { class: "task" }, el("span", { class: `task-box ${done ? "done" : ""}`, role: "img", "aria-label": label }));
}

function codeElement(text: string, info: string): HTMLElement {
  const language = info.trim().split(/\s+/)[0] ?? "";
  const copy = el("button", { type: "button", class: "copy-code", "data-copy": "code", "aria-label": t.copyCode }, t.copy);
  const head = el("div", { class: "code-head" }, el("span", {}, language || "text"), copy);
  const attributes = { class: "code", "data-language": language.toLowerCase() };
  const code = el("code", {}, text.replace(/\n$/, ""));
  return el("div", attributes, head, el("pre", { tabindex: "0" }, code));
}

/** The links of a citation such as `[1]` or `[1, 2]`; numbers without a source are left out. */
function cite(builder: Builder, token: Token): void {
  const { context } = builder;
  const numbers = (token.meta?.numbers ?? []) as number[];
  const links = numbers.flatMap((number) => {
    const source = context.cite(number);
    return source ? [citation(number, source)] : [];
  });
  if (links.length === 0 && !context.hasSources()) return builder.append(token.content);
  builder.glue();
  for (const node of links) builder.append(node);
}

function citation(number: number, source: Source): HTMLElement {
  const href = sourceHref(source.url);
  const data = { "data-source": number, "data-title": source.title, "data-excerpt": source.excerpt || null };
  const label = { title: null, "aria-label": t.answer.source(number), ...data };
  return el("sup", { class: "cite" }, href ? link(href, label, String(number)) : String(number));
}

/** The button that opens a passage of a document. */
function passageButton({ path, first, last }: DocumentReference, label: Child): HTMLElement {
  const data = { "data-document": path, "data-first": first, "data-last": last };
  return el("button", { type: "button", class: "passage-link", title: t.passage.open, "aria-haspopup": "dialog", ...data }, label);
}

/** The number of a footnote, from 0, and the number of the reference to it. */
function footnoteOf(token: Token): { id: number; subId: number } {
  return { id: Number(token.meta?.id), subId: Number(token.meta?.subId ?? 0) };
}

/** The ids of a footnote's references: the first has no number. */
function footnoteIds({ prefix }: Context, token: Token): { note: string; reference: string } {
  const { id, subId } = footnoteOf(token);
  const repeated = subId > 0 ? `-${subId}` : "";
  return { note: `${prefix}-fn-${id + 1}`, reference: `${prefix}-ref-${id + 1}${repeated}` };
}

function footnoteReference(context: Context, token: Token): HTMLElement {
  const { note, reference } = footnoteIds(context, token);
  const anchor = el("button", { type: "button", class: "jump", id: reference, "data-jump": note }, String(footnoteOf(token).id + 1));
  return el("sup", { class: "footnote-ref" }, anchor);
}

function footnoteBack(context: Context, token: Token): HTMLElement {
  const label = t.answer.footnoteBack(String(footnoteOf(token).id + 1));
  const { reference } = footnoteIds(context, token);
  return el("button", { type: "button", class: "jump", "data-jump": reference, "aria-label": label }, "↩");
}
