// The sources of an answer: a numbered list of links below its text.

import type { Source } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { safeHref } from "../markdown/links.ts";
import { button, el, link } from "../view/dom.ts";
import type { References } from "./references.ts";
import { hostOf } from "./strings.ts";

/** The number of sources in the collapsed list. */
const COLLAPSED_COUNT = 4;

/** The sources of one answer. */
export class Sources {
  element = el("section", { class: "sources", "aria-label": t.answer.sources, hidden: true });
  #list = el("ol");
  #all: Source[] = [];
  #more = button("", () => this.#expand(), { kind: "text" });
  #ofConversation: Map<number, Source>;

  /** `ofConversation` maps numbers to the sources of all answers of the conversation; the first one keeps its number. */
  constructor({ sources: ofConversation }: References) {
    this.#ofConversation = ofConversation;
    this.element.append(this.#list, this.#more);
  }

  /** Adds sources; skips duplicates and sources without a safe URL. */
  add(sources: Source[] | undefined): void {
    for (const source of sources ?? []) {
      const url = safeHref(source.url);
      if (!url || this.#all.some((known) => known.index === source.index && known.url === url)) continue;
      const known = { ...source, url, title: source.title?.trim() || url };
      this.#all.push(known);
      if (!this.#ofConversation.has(known.index)) this.#ofConversation.set(known.index, known);
      this.#list.append(sourceElement(known));
    }
    this.#collapse();
  }

  /** Shows the list. While the text grows the list is hidden, because it would move with every line. */
  show(): void {
    this.element.hidden = this.#all.length === 0;
  }

  /** The source with this number: the answer's own one, else that of an earlier answer; null if it is ambiguous. */
  numbered(index: number): Source | null {
    const found = this.#all.filter((source) => source.index === index);
    if (found.length > 1) return null;
    const [own, earlier] = [found[0], this.#ofConversation.get(index)];
    // Only the answer that found a page has its excerpt.
    if (own && earlier?.url === own.url) return { ...own, excerpt: own.excerpt || earlier.excerpt || "" };
    return own ?? earlier ?? null;
  }

  /** Whether the answer or an earlier one has sources. */
  get any(): boolean {
    return this.#all.length > 0 || this.#ofConversation.size > 0;
  }

  #collapse(): void {
    const hidden = this.#all.length - COLLAPSED_COUNT;
    if (this.element.classList.contains("open")) return;
    this.element.classList.toggle("collapsed", hidden > 1);
    this.#more.hidden = hidden <= 1;
    this.#more.textContent = t.answer.moreSources(hidden);
  }

  #expand(): void {
    this.element.classList.replace("collapsed", "open");
    this.#more.hidden = true;
    this.#list.children[COLLAPSED_COUNT]?.querySelector("a")?.focus();
  }
}

function sourceElement({ index, url, title = url }: Source): HTMLElement {
  const number = el("span", { class: "number", "aria-hidden": "true" }, String(index));
  const texts = [el("span", { class: "source-title", dir: "auto" }, title), el("span", { class: "source-host" }, hostOf(url))];
  return el("li", { value: index }, link(url, { title }, number, texts));
}
