// The sources of an answer: a numbered list of links, and the button that opens it.

import type { Source } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { sourceHref } from "../markdown/links.ts";
import { button, el, icon, link } from "../view/dom.ts";
import type { References } from "./references.ts";
import { hostOf } from "./strings.ts";

/** The sources of one answer. */
export class Sources {
  element = el("div", { class: "sources", role: "group", "aria-label": t.answer.sources, hidden: true });
  #list = el("ol");
  #all: Source[] = [];
  /** Opens and closes the list. */
  toggle = button("", () => this.#open(this.element.classList.contains("closed")), { kind: "text sources-toggle" });
  #ofConversation: Map<number, Source>;

  /** `ofConversation` maps numbers to the sources of all answers of the conversation; the first one keeps its number. */
  constructor({ sources: ofConversation }: References) {
    this.#ofConversation = ofConversation;
    this.element.append(this.#list);
  }

  /** Adds sources; skips duplicates and sources without a safe URL. */
  add(sources: Source[] | undefined): void {
    for (const source of sources ?? []) {
      const url = sourceHref(source.url);
      if (!url || this.#all.some((known) => known.index === source.index && known.url === url)) continue;
      const known = { ...source, url, title: source.title?.trim() || url };
      this.#all.push(known);
      if (!this.#ofConversation.has(known.index)) this.#ofConversation.set(known.index, known);
      this.#list.append(sourceElement(known));
    }
  }

  /** Shows the list. */
  show(): void {
    this.element.hidden = this.#all.length === 0;
  }

  /** Shows the button, below which the list opens. */
  offer(): void {
    this.show();
    this.toggle.hidden = this.element.hidden;
    this.toggle.replaceChildren(t.answer.sourceCount(this.#all.length), icon("chevron"));
    this.#open(false);
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

  #open(open: boolean): void {
    this.element.classList.toggle("closed", !open);
    this.toggle.setAttribute("aria-expanded", String(open));
    if (open) this.element.scrollIntoView({ block: "nearest" });
  }
}

function sourceElement({ index, url, title = url }: Source): HTMLElement {
  const number = el("span", { class: "number", "aria-hidden": "true" }, String(index));
  const texts = [el("span", { class: "source-title", dir: "auto" }, title), el("span", { class: "source-host" }, hostOf(url))];
  return el("li", { value: index }, link(url, { title }, number, texts));
}
