// What is copied of answers, by a button or as a selection: the text with the sources that it cites, and TeX for formulas.

import { t } from "../i18n/index.ts";
import { safeHref } from "../markdown/links.ts";
import { el, link, type Child } from "../view/dom.ts";
import type { Excerpt } from "./parts.ts";

/** What a reader of the copy cannot use. */
const CONTROLS = ".code-head, .task-box, .message-actions, .answer-footer, footer, .offscreen";

interface CitedSource {
  index: string;
  url: string;
  title: string;
}

/** The Markdown of an answer, and a line for each cited source. */
export function plainExcerpt({ text, elements }: Excerpt): string {
  return withSources(text, cited(elements));
}

/** The elements of an answer, and a list of the cited sources, as HTML. */
export function formattedExcerpt({ elements }: Excerpt): string {
  return formatted(elements.map((element) => element.cloneNode(true)));
}

/** Copies a selection in an answer as the button does. */
export function copySelection(event: ClipboardEvent): void {
  if (event.target instanceof Element && event.target.matches("input, textarea")) return;
  const selection = document.getSelection();
  const range = selection?.rangeCount ? selection.getRangeAt(0).cloneRange() : null;
  if (!range || range.collapsed || !elementOf(range.commonAncestorContainer)?.closest(".prose, .parts, .answer, #messages, #shared")) return;
  // Half of a formula is no TeX.
  const [first, last] = [formulaAt(range.startContainer), formulaAt(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const copy = el("div", { class: "offscreen" }, range.cloneContents());
  if (!copy.querySelector(".math, .cite, .code-head")) return;
  event.preventDefault();
  event.clipboardData?.setData("text/html", formatted([...copy.childNodes].map((node) => node.cloneNode(true))));
  const sources = cited([copy]);
  portable(copy);
  // Only what is on the page has line breaks between its blocks.
  document.body.append(copy);
  event.clipboardData?.setData("text/plain", withSources(copy.innerText.trim(), sources));
  copy.remove();
}

const elementOf = (node: Node): Element | null => (node instanceof Element ? node : node.parentElement);

const formulaAt = (node: Node) => elementOf(node)?.closest(".math[data-tex]");

function formatted(nodes: Child[]): string {
  const copy = el("div", {}, nodes);
  const sources = cited([copy]).map(({ index, title, url }) => el("p", {}, `[${index}] `, safeHref(url) ? link(url, {}, title) : title));
  portable(copy);
  if (sources.length > 0) copy.append(el("p", {}, el("strong", {}, t.answer.sources)), ...sources);
  return copy.innerHTML;
}

/** Makes a copy readable without the page: numbers in brackets for citations, TeX for formulas, no controls. */
function portable(copy: HTMLElement): void {
  for (const control of copy.querySelectorAll(CONTROLS)) control.remove();
  for (const number of copy.querySelectorAll(".cite a")) number.textContent = `[${number.textContent}]`;
  for (const formula of copy.querySelectorAll<HTMLElement>(".math[data-tex]")) {
    const mark = formula.matches(".display") ? "$$" : "$";
    formula.textContent = `${mark}${formula.dataset.tex}${mark}`;
  }
  const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.nodeValue = (walker.currentNode.nodeValue ?? "").replaceAll("\u2060", "");
}

function withSources(text: string, sources: CitedSource[]): string {
  const lines = sources.map(({ index, title, url }) => [`[${index}] ${title}`, ...(title !== url && safeHref(url) ? [url] : [])].join(" – "));
  return lines.length === 0 ? text : `${text}\n\n${lines.join("\n")}`;
}

/** The sources that the shown citations name, by number. */
function cited(elements: HTMLElement[]): CitedSource[] {
  const links = elements.flatMap((element) => [...element.querySelectorAll<HTMLAnchorElement>("a[data-source]")]);
  const sources = links.map(({ href, dataset }) => ({ index: dataset.source ?? "", url: href, title: dataset.title || href }));
  const numbers = new Map(sources.map((source) => [Number(source.index), source]));
  return [...numbers].sort(([a], [b]) => a - b).map(([, source]) => source);
}
