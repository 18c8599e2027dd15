// What an answer did before it could be given: its tool calls, one line each, and the pages that they found.

import { el, icon, button } from "./dom.js";
import { link } from "./markdown.js";
import { safeHref } from "./markdown-links.js";
import { callWords, lastLine, resultWords } from "./words.js";

const SHOWN = 4;

/** How much is kept of what a running call says, in characters. */
const LONGEST_LINE = 400;

/** The tool calls of one answer. */
export class Steps {
  element = el("ol", { class: "steps", "aria-label": "Steps", hidden: true });
  #lines = new Map();

  /** Shows a call that runs; the same call again changes nothing. Returns what it is doing, in words. */
  call(call) {
    const [doing, done, object] = callWords(call);
    if (!this.#lines.has(call.id)) {
      const verb = el("span", { class: "verb" }, doing);
      const about = el("q", { class: "object", dir: "auto" }, object);
      const outcome = el("span", { class: "outcome" });
      const line = el(
        "li",
        { class: "step running" },
        el("span", { class: "spinner" }),
        verb,
        object ? about : [],
        outcome,
      );
      this.#lines.set(call.id, { line, verb, outcome, done });
      this.element.append(line);
      this.element.hidden = false;
    }
    return object ? `${doing}: ${object}` : doing;
  }

  /** Shows the last line of what a running call says of itself. */
  progress({ id, text }) {
    const step = this.#lines.get(id);
    if (!step?.line.classList.contains("running")) return;
    step.said = `${step.said ?? ""}${text}`.slice(-LONGEST_LINE);
    step.outcome.textContent = lastLine(step.said);
  }

  /** Shows how a call went. Returns it in words. */
  result(result) {
    const step = this.#lines.get(result.id);
    const words = resultWords(result);
    if (!step || !step.line.classList.contains("running")) return words;
    step.line.classList.replace("running", result.ok ? "ok" : "failed");
    step.line.querySelector(".spinner").replaceWith(icon(result.ok ? "check" : "alert"));
    step.verb.textContent = step.done;
    step.outcome.textContent = words;
    return words;
  }

  /** Whether a call is still running. */
  get running() {
    return this.element.querySelector(".running") !== null;
  }

  /** Marks every call that is still running as one that never ended. */
  abandon() {
    for (const [id, { line }] of this.#lines) {
      if (line.classList.contains("running")) this.result({ id, ok: false, summary: "no result" });
    }
  }
}

/** The pages that an answer rests on, as a numbered list of links. */
export class Sources {
  element = el("section", { class: "sources", "aria-label": "Sources", hidden: true });
  #list = el("ol");
  #all = [];
  #more = button("", () => this.#unfold(), { kind: "text" });

  constructor() {
    this.element.append(this.#list, this.#more);
  }

  /** Adds sources; one that is there already is not added again, one without a usable address not at all. */
  add(sources) {
    for (const source of sources ?? []) {
      const url = safeHref(source.url);
      if (!url || this.#all.some((known) => known.index === source.index && known.url === url)) continue;
      const known = { index: source.index, url, title: source.title?.trim() || url };
      this.#all.push(known);
      this.#list.append(sourceElement(known));
    }
    this.element.hidden = this.#all.length === 0;
    this.#fold();
  }

  /** The source that a number means, unless there is none or more than one. */
  numbered(index) {
    const found = this.#all.filter((source) => source.index === index);
    return found.length === 1 ? found[0] : null;
  }

  #fold() {
    const hidden = this.#all.length - SHOWN;
    if (this.element.classList.contains("open")) return;
    this.element.classList.toggle("folded", hidden > 1);
    this.#more.hidden = hidden <= 1;
    this.#more.textContent = `${hidden} more`;
  }

  #unfold() {
    this.element.classList.replace("folded", "open");
    this.#more.hidden = true;
    this.#list.children[SHOWN].querySelector("a").focus();
  }
}

function sourceElement({ index, url, title }) {
  const host = new URL(url).hostname.replace(/^www\./, "");
  const words = [el("span", { class: "source-title", dir: "auto" }, title), el("span", { class: "source-host" }, host)];
  return el(
    "li",
    { value: index },
    link(url, title, null, el("span", { class: "number", "aria-hidden": "true" }, String(index)), ...words),
  );
}
