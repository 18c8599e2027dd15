// The dialog with a passage of a text: the cited lines with some around them, and more on request.

import { errorText } from "../answer/strings.ts";
import { ApiError, requestText } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { showDialog } from "../view/dialog.ts";
import { button, el } from "../view/dom.ts";
import { texts } from "./texts.ts";

/** The lines around the cited ones. */
const CONTEXT_LINES = 4;

/** The lines that are shown at first, and that a button adds. */
const MAX_FIRST_LINES = 200;
const MORE_LINES = 40;

/** The server cuts longer lines. */
const MAX_LINE_CHARS = 2000;

/** A text, and what is cited of it. */
export interface PassageSpec {
  title: string;
  /** The first and the last cited line; the last one is 0 without any. */
  first: number;
  last: number;
  /** Whether what is counted are pages, which are read and shown as lines are. */
  paged?: boolean;
  /** Reads lines, both counted from 1; fewer if there are no more. */
  read: (first: number, last: number) => Promise<string[]>;
  /** The number of lines that a button adds. */
  step?: number;
  controls?: HTMLElement[];
}

/** Opens the dialog with the cited lines of a text, or with its beginning. */
export function openPassage(spec: PassageSpec): void {
  const passage = new Passage(spec);
  const heading = spec.last > 0 ? [el("p", { class: "passage-lines" }, rangeText(spec))] : [];
  showDialog({ id: "passage-dialog", title: spec.title, body: [...heading, passage.element], controls: spec.controls ?? [] });
  passage.element.focus();
  void passage.open();
}

/** Opens lines of a document of the server. */
export function openDocument(path: string, first: number, last: number): void {
  openPassage({ title: path, first, last, read: (from, to) => readLines(path, from, to) });
}

const rangeText = ({ first, last, paged }: PassageSpec) => (paged ? t.passage.pages : t.passage.lines)(first, last);

/** The shown lines of one text. */
class Passage {
  element = el("div", { class: "passage", tabindex: "0", role: "group" });
  #spec: PassageSpec;
  /** The first shown line, and the line after the last one. */
  #from: number;
  #to: number;
  #list = el("ol");
  #note = el("p", { role: "alert" });
  #above = button(texts.above, () => void this.#showAbove(), { kind: "text" });
  #below = button(texts.below, () => void this.#showBelow(), { kind: "text" });
  #retry = button(t.retry, () => void this.open(), { iconName: "reload" });

  constructor(spec: PassageSpec) {
    this.#spec = spec;
    this.#from = this.#to = Math.max(1, spec.first - CONTEXT_LINES);
    this.element.setAttribute("aria-label", spec.last > 0 ? rangeText(spec) : spec.title);
    this.#list.classList.toggle("pages", spec.paged === true);
    this.element.append(this.#above, this.#list, this.#below, this.#note, this.#retry);
    this.#above.hidden = this.#below.hidden = this.#retry.hidden = true;
  }

  /** Loads the cited lines and those around them. */
  async open(): Promise<void> {
    const { first, last, paged } = this.#spec;
    const end = (last > 0 ? Math.min(last, first + MAX_FIRST_LINES - 1) : MAX_FIRST_LINES) + CONTEXT_LINES + 1;
    if (!(await this.#add(this.#from, end))) return;
    if (this.#to <= first) this.#note.textContent = paged ? texts.noPage(first) : texts.noLine(first);
    this.#list.querySelector(".cited")?.scrollIntoView({ block: paged ? "start" : "nearest" });
  }

  get #step(): number {
    return this.#spec.step ?? MORE_LINES;
  }

  async #showAbove(): Promise<void> {
    const before = this.element.scrollHeight;
    const from = Math.max(1, this.#from - this.#step);
    if (!(await this.#add(from, this.#from))) return;
    this.element.scrollTop += this.element.scrollHeight - before;
    if (this.#above.hidden) this.element.focus();
  }

  async #showBelow(): Promise<void> {
    if (!(await this.#add(this.#to, this.#to + this.#step))) return;
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
      const lines = await this.#spec.read(from, above ? end - 1 : end);
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
    const cited = number >= this.#spec.first && number <= this.#spec.last;
    const page = this.#spec.paged ? el("p", {}, t.passage.pages(number, number)) : [];
    return el("li", { value: number, class: cited ? "cited" : null }, page, el(cited ? "mark" : "span", {}, text));
  }

  #showError(error: ApiError): void {
    const known: Record<number, string> = { 400: texts.notText, 404: texts.missing };
    this.#note.textContent = known[error.status] ?? errorText(error);
    this.#retry.hidden = !error.retryable || this.#to > this.#from;
  }
}

async function readLines(path: string, first: number, last: number): Promise<string[]> {
  const name = path.split("/").map(encodeURIComponent).join("/");
  const text = await requestText(`/api/documents/${name}?lines=${first}-${last}`);
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line) => (Array.from(line).length < MAX_LINE_CHARS ? line : `${line}…`));
}
