// The dialog with a passage of a document: the cited lines with some around them, and more on request.

import { ApiError, requestText } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { showDialog } from "../view/dialog.ts";
import { button, el } from "../view/dom.ts";
import { errorText } from "./strings.ts";

/** The lines around the cited ones. */
const CONTEXT_LINES = 4;

/** The lines that are shown at first, and that a button adds. */
const MAX_FIRST_LINES = 200;
const MORE_LINES = 40;

/** The server cuts longer lines. */
const MAX_LINE_CHARS = 2000;

/** Opens the passages that the buttons in a root refer to. */
export function wirePassages(root: HTMLElement): void {
  root.addEventListener("click", ({ target }) => {
    const opener = target instanceof Element ? target.closest<HTMLElement>("[data-document]") : null;
    if (!opener) return;
    const { document: path = "", first, last } = opener.dataset;
    openPassage(path, Number(first), Number(last));
  });
}

function openPassage(path: string, first: number, last: number): void {
  const passage = new Passage(path, first, last);
  const heading = el("p", { class: "passage-lines" }, t.passage.lines(first, last));
  showDialog({ id: "passage-dialog", title: path, body: [heading, passage.element] });
  passage.element.focus();
  void passage.open();
}

/** The shown lines of one document. */
class Passage {
  element = el("div", { class: "passage", tabindex: "0", role: "group" });
  #path: string;
  #cited: { first: number; last: number };
  /** The first shown line, and the line after the last one. */
  #from: number;
  #to: number;
  #list = el("ol");
  #note = el("p", { role: "alert" });
  #above = button(t.passage.above, () => void this.#showAbove(), { kind: "text" });
  #below = button(t.passage.below, () => void this.#showBelow(), { kind: "text" });
  #retry = button(t.retry, () => void this.open(), { iconName: "reload" });

  constructor(path: string, first: number, last: number) {
    this.#path = path;
    this.#cited = { first, last };
    this.#from = this.#to = Math.max(1, first - CONTEXT_LINES);
    this.element.setAttribute("aria-label", t.passage.lines(first, last));
    this.element.append(this.#above, this.#list, this.#below, this.#note, this.#retry);
    this.#above.hidden = this.#below.hidden = this.#retry.hidden = true;
  }

  /** Loads the cited lines and those around them. */
  async open(): Promise<void> {
    const { first, last } = this.#cited;
    const end = Math.min(last, first + MAX_FIRST_LINES - 1) + CONTEXT_LINES + 1;
    if (!(await this.#add(this.#from, end))) return;
    if (this.#to <= first) this.#note.textContent = t.passage.short(first);
    this.#list.querySelector(".cited")?.scrollIntoView({ block: "nearest" });
  }

  async #showAbove(): Promise<void> {
    const before = this.element.scrollHeight;
    const from = Math.max(1, this.#from - MORE_LINES);
    if (!(await this.#add(from, this.#from))) return;
    this.element.scrollTop += this.element.scrollHeight - before;
    if (this.#above.hidden) this.element.focus();
  }

  async #showBelow(): Promise<void> {
    if (!(await this.#add(this.#to, this.#to + MORE_LINES))) return;
    if (this.#below.hidden) this.element.focus();
  }

  /** Loads the lines from `from` to before `end`, which are next to the shown ones. Returns whether it could. */
  async #add(from: number, end: number): Promise<boolean> {
    // A second click during a load would add the same lines again.
    if (this.element.hasAttribute("aria-busy")) return false;
    this.#note.textContent = "";
    this.#retry.hidden = true;
    this.element.setAttribute("aria-busy", "true");
    try {
      const above = end === this.#from;
      // One line more shows whether there are more.
      const lines = await readLines(this.#path, from, above ? end - 1 : end);
      const shown = lines.slice(0, end - from).map((text, n) => this.#line(from + n, text));
      if (above) this.#list.prepend(...shown);
      else this.#list.append(...shown);
      if (above) this.#from = from;
      else this.#to = from + shown.length;
      this.#above.hidden = this.#from === 1 || this.#to === this.#from;
      if (!above) this.#below.hidden = lines.length <= end - from;
      return true;
    } catch (thrown) {
      this.#showError(ApiError.from(thrown));
      return false;
    } finally {
      this.element.removeAttribute("aria-busy");
    }
  }

  #line(number: number, text: string): HTMLElement {
    const cited = number >= this.#cited.first && number <= this.#cited.last;
    const shown = Array.from(text).length < MAX_LINE_CHARS ? text : `${text}…`;
    return el("li", { value: number, class: cited ? "cited" : null }, el(cited ? "mark" : "span", {}, shown));
  }

  #showError(error: ApiError): void {
    const known: Record<number, string> = { 400: t.passage.notText, 404: t.passage.missing };
    this.#note.textContent = known[error.status] ?? errorText(error);
    this.#retry.hidden = !error.retryable || this.#to > this.#from;
  }
}

/** Reads lines of a document, both counted from 1; fewer if it has no more. */
async function readLines(path: string, first: number, last: number): Promise<string[]> {
  const name = path.split("/").map(encodeURIComponent).join("/");
  const text = await requestText(`/api/documents/${name}?lines=${first}-${last}`);
  return text.split("\n").slice(0, -1);
}
