// The tool calls between two texts of an answer: one line of constant height, which opens to a list.

import type { ToolCall, ToolResult } from "../api/types.ts";
import { formatList, t } from "../i18n/index.ts";
import { sourceHref } from "../markdown/links.ts";
import { el, icon, link } from "../view/dom.ts";
import { callLabels, lastLine, outcomeText, resultCount, timeText } from "./strings.ts";

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
  #line = el("summary");
  #list = el("ol", { class: "step-list", "aria-label": t.answer.steps });
  #steps = new Map<string, Step>();
  /** Shows a change of a call in the line of several groups too. */
  onChange = () => {};

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
    return subject ? t.labelled(doing, subject) : doing;
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

  /** The calls. */
  get steps(): Step[] {
    return [...this.#steps.values()];
  }

  /** Whether a call is still running. */
  get running(): boolean {
    return this.steps.some(({ state }) => state === "running");
  }

  /** Marks every running call as failed without a result. */
  abandon(): void {
    for (const [id, { state }] of this.#steps) {
      if (state === "running") this.result({ id, ok: false, summary: t.answer.noResult });
    }
  }

  #render(): void {
    showLine(this.#line, this.steps);
    this.onChange();
    this.#renderList();
  }

  #renderList(): void {
    if (this.element.open) this.#list.replaceChildren(...this.steps.map(stepElement));
  }
}

/** The rows of several rounds before a text, as one line of what all their calls found. */
export function foldRows(rows: Element[], groups: Steps[]): HTMLElement {
  const line = el("summary");
  const show = () => showLine(line, groups.flatMap((group) => group.steps));
  for (const group of groups) group.onChange = show;
  show();
  return el("details", { class: "steps rounds" }, line, ...(rows as HTMLElement[]));
}

function showLine(element: HTMLElement, steps: Step[]): void {
  const { state, verb, subject, outcome, count } = lineOf(steps);
  element.className = `step ${state}`;
  element.replaceChildren(
    state === "running" ? el("span", { class: "spinner" }) : icon(state === "ok" ? "check" : "alert"),
    el("span", { class: "verb" }, verb),
    ...(subject ? [" ", el("q", { class: "object", dir: "auto" }, subject)] : []),
    el("span", { class: "outcome" }, outcome),
    ...(count > 1 ? [el("span", { class: "step-count" }, t.answer.stepCount(count))] : []),
    icon("chevron"),
  );
}

interface Line {
  state: State;
  verb: string;
  subject: string;
  outcome: string;
  count: number;
}

/** What the line shows: the call that runs, else what all calls found together. */
function lineOf(steps: Step[]): Line {
  const shown = steps.find(({ state }) => state === "running") ?? steps.at(-1);
  const [doing = "", done = "", subject = ""] = shown?.labels ?? [];
  const failed = steps.filter(({ state }) => state === "failed").length;
  const count = steps.length;
  if (shown?.state === "running") return { state: "running", verb: doing, subject, outcome: lastLine(shown.progress), count };
  const state = failed > 0 ? "failed" : "ok";
  if (count === 1) return { state, verb: done, subject, outcome: shown?.result ? outcomeText(shown.result) : "", count };
  const verbs = [...new Set(steps.map(({ labels }) => labels[1]))].map((verb, at) => (at === 0 ? verb : `${verb.charAt(0).toLowerCase()}${verb.slice(1)}`));
  const subjects = new Set(steps.map(({ labels }) => labels[2]).filter(Boolean));
  const found = steps.reduce((sum, { result }) => sum + ((result?.ok && resultCount(result.summary)) || 0), 0);
  const outcome = [found > 0 ? t.found.results(found) : "", failed > 0 ? t.answer.failedCount(failed) : ""].filter(Boolean).join(" · ");
  return { state, verb: formatList(verbs), subject: [...subjects].join(" · "), outcome, count };
}

/** A call with all that is known of it. */
function stepElement({ labels: [doing, done, subject], state, result }: Step): HTMLElement {
  const sources = (result?.sources ?? []).flatMap(({ url, title }) => {
    const href = sourceHref(url);
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
