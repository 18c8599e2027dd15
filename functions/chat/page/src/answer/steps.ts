// The tool calls between two texts of an answer: one line of constant height, which opens to a list.

import type { ToolCall, ToolResult } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { safeHref } from "../markdown/links.ts";
import { el, icon, link } from "../view/dom.ts";
import { callLabels, lastLine, outcomeText, timeText } from "./strings.ts";

/** The characters kept of a call's progress text. */
const MAX_PROGRESS_CHARS = 400;

type State = "running" | "ok" | "failed";

interface Step {
  call: ToolCall;
  labels: [string, string, string];
  state: State;
  progress: string;
  result: ToolResult | null;
}

/** A group of calls. */
export class Steps {
  element = el("details", { class: "steps" });
  #line = el("summary", { class: "step running" });
  #list = el("ol", { class: "step-list", "aria-label": t.answer.steps });
  #steps = new Map<string, Step>();

  constructor() {
    this.element.append(this.#line, this.#list);
    this.element.addEventListener("toggle", () => this.#renderList());
  }

  /** Adds a running call; a repeated call changes nothing. Returns its label. */
  call(call: ToolCall): string {
    const labels = callLabels(call);
    const [doing, , subject] = labels;
    if (!this.has(call.id)) {
      this.#steps.set(call.id, { call, labels, state: "running", progress: "", result: null });
      this.#render();
    }
    return subject ? t.stepLabel(doing, subject) : doing;
  }

  /** Whether the group has this call. */
  has(id: string): boolean {
    return this.#steps.has(id);
  }

  /** Shows the last line of a running call's progress text. */
  progress({ id, text }: { id: string; text: string }): void {
    const step = this.#steps.get(id);
    if (step?.state !== "running") return;
    step.progress = `${step.progress}${text}`.slice(-MAX_PROGRESS_CHARS);
    this.#render();
  }

  /** Shows the result of a call. Returns its text. */
  result(result: ToolResult): string {
    const step = this.#steps.get(result.id);
    if (step?.state === "running") {
      step.state = result.ok ? "ok" : "failed";
      step.result = result;
      this.#render();
    }
    return outcomeText(result);
  }

  /** Whether a call is still running. */
  get running(): boolean {
    return [...this.#steps.values()].some(({ state }) => state === "running");
  }

  /** Marks every running call as failed without a result. */
  abandon(): void {
    for (const [id, { state }] of this.#steps) {
      if (state === "running") this.result({ id, ok: false, summary: t.answer.noResult });
    }
  }

  #render(): void {
    const steps = [...this.#steps.values()];
    const shown = steps.find(({ state }) => state === "running") ?? steps.at(-1);
    if (!shown) return;
    const [doing, done, subject] = shown.labels;
    const failed = steps.some(({ state }) => state === "failed");
    const state = shown.state === "running" ? "running" : failed ? "failed" : "ok";
    this.#line.className = `step ${state}`;
    this.#line.replaceChildren(
      state === "running" ? el("span", { class: "spinner" }) : icon(state === "ok" ? "check" : "alert"),
      el("span", { class: "verb" }, shown.state === "running" ? doing : done),
      ...(subject ? [" ", el("q", { class: "object", dir: "auto" }, subject)] : []),
      el("span", { class: "outcome" }, shown.result ? outcomeText(shown.result) : lastLine(shown.progress)),
      ...(steps.length > 1 ? [el("span", { class: "step-count" }, t.answer.stepCount(steps.length))] : []),
      icon("chevron"),
    );
    this.#renderList();
  }

  #renderList(): void {
    if (this.element.open) this.#list.replaceChildren(...[...this.#steps.values()].map(stepElement));
  }
}

/** A call with all that is known of it. */
function stepElement({ labels: [doing, done, subject], state, result }: Step): HTMLElement {
  const sources = (result?.sources ?? []).flatMap(({ url, title }) => {
    const href = safeHref(url);
    return href ? [el("li", { dir: "auto" }, link(href, {}, title?.trim() || href))] : [];
  });
  const outcome = [result ? outcomeText(result) : "", result ? timeText(result) : ""].filter(Boolean).join(" · ");
  return el(
    "li",
    { class: state },
    el("p", {}, state === "running" ? doing : done, subject ? [" ", el("q", { dir: "auto" }, subject)] : []),
    outcome ? el("p", { class: "step-outcome" }, outcome) : [],
    sources.length > 0 ? el("ul", {}, sources) : [],
  );
}
