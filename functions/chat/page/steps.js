// The steps of an answer: one line per tool call, and the sources that the calls returned.

import { el, icon, button } from "./dom.js";
import { link } from "./markdown.js";
import { safeHref } from "./markdown-links.js";
import { callLabels, lastLine, resultText } from "./strings.js";

/** The number of sources in the collapsed list. */
const COLLAPSED_COUNT = 4;

/** The characters kept of a call's progress text. */
const MAX_PROGRESS_CHARS = 400;

/** The tool calls of one answer. */
export class Steps {
  element = el("ol", { class: "steps", "aria-label": "Steps", hidden: true });
  #lines = new Map();

  /** Shows a running call; a repeated call changes nothing. Returns its label. */
  call(call) {
    const [doing, done, subject] = callLabels(call);
    if (!this.#lines.has(call.id)) {
      const verb = el("span", { class: "verb" }, doing);
      const object = el("q", { class: "object", dir: "auto" }, subject);
      const outcome = el("span", { class: "outcome" });
      const line = el(
        "li",
        { class: "step running" },
        el("span", { class: "spinner" }),
        verb,
        subject ? object : [],
        outcome,
      );
      this.#lines.set(call.id, { line, verb, outcome, done });
      this.element.append(line);
      this.element.hidden = false;
    }
    return subject ? `${doing}: ${subject}` : doing;
  }

  /** Shows the last line of a running call's progress text. */
  progress({ id, text }) {
    const step = this.#lines.get(id);
    if (!step?.line.classList.contains("running")) return;
    step.progress = `${step.progress ?? ""}${text}`.slice(-MAX_PROGRESS_CHARS);
    step.outcome.textContent = lastLine(step.progress);
  }

  /** Shows the result of a call. Returns its text. */
  result(result) {
    const step = this.#lines.get(result.id);
    const text = resultText(result);
    if (!step || !step.line.classList.contains("running")) return text;
    step.line.classList.replace("running", result.ok ? "ok" : "failed");
    step.line.querySelector(".spinner").replaceWith(icon(result.ok ? "check" : "alert"));
    step.verb.textContent = step.done;
    step.outcome.textContent = text;
    return text;
  }

  /** Whether a call is still running. */
  get running() {
    return this.element.querySelector(".running") !== null;
  }

  /** Marks every running call as failed without a result. */
  abandon() {
    for (const [id, { line }] of this.#lines) {
      if (line.classList.contains("running")) this.result({ id, ok: false, summary: "no result" });
    }
  }
}

/** The sources of an answer, as a numbered list of links. */
export class Sources {
  element = el("section", { class: "sources", "aria-label": "Sources", hidden: true });
  #list = el("ol");
  #all = [];
  #more = button("", () => this.#expand(), { kind: "text" });
  #ofConversation;

  /** `ofConversation` maps numbers to the sources of all answers of the conversation; the first one keeps its number. */
  constructor(ofConversation = new Map()) {
    this.#ofConversation = ofConversation;
    this.element.append(this.#list, this.#more);
  }

  /** Adds sources; skips duplicates and sources without a safe URL. */
  add(sources) {
    for (const source of sources ?? []) {
      const url = safeHref(source.url);
      if (!url || this.#all.some((known) => known.index === source.index && known.url === url)) continue;
      const known = { index: source.index, url, title: source.title?.trim() || url };
      this.#all.push(known);
      if (!this.#ofConversation.has(known.index)) this.#ofConversation.set(known.index, known);
      this.#list.append(sourceElement(known));
    }
    this.element.hidden = this.#all.length === 0;
    this.#collapse();
  }

  /** The source with this number: the answer's own one, else that of an earlier answer; null if it is ambiguous. */
  numbered(index) {
    const found = this.#all.filter((source) => source.index === index);
    if (found.length > 1) return null;
    return found[0] ?? this.#ofConversation.get(index) ?? null;
  }

  #collapse() {
    const hidden = this.#all.length - COLLAPSED_COUNT;
    if (this.element.classList.contains("open")) return;
    this.element.classList.toggle("collapsed", hidden > 1);
    this.#more.hidden = hidden <= 1;
    this.#more.textContent = `${hidden} more`;
  }

  #expand() {
    this.element.classList.replace("collapsed", "open");
    this.#more.hidden = true;
    this.#list.children[COLLAPSED_COUNT].querySelector("a").focus();
  }
}

function sourceElement({ index, url, title }) {
  const host = new URL(url).hostname.replace(/^www\./, "");
  const texts = [el("span", { class: "source-title", dir: "auto" }, title), el("span", { class: "source-host" }, host)];
  return el(
    "li",
    { value: index },
    link(url, title, null, el("span", { class: "number", "aria-hidden": "true" }, String(index)), ...texts),
  );
}
