// The model's reasoning, in a collapsed section.

import { durationText, t } from "../i18n/index.ts";
import { el } from "../view/dom.ts";

/** The reasoning of one answer, with the time that the model spent on it. */
export class Thinking {
  element = el("details", { class: "thinking", hidden: true });
  #label = el("span", {}, t.answer.thoughts);
  #reasoning = el("div", { class: "reasoning" });
  #pending = "";
  #startedAt = 0;
  #elapsedMs = 0;

  constructor() {
    this.element.append(el("summary", {}, this.#label), this.#reasoning);
  }

  /** Shows stored reasoning and, if it is known, its time. */
  set(text: string, ms: number | undefined): void {
    this.element.hidden = false;
    this.#reasoning.textContent = text;
    if (ms !== undefined) this.#label.textContent = t.answer.thoughtFor(durationText(ms));
  }

  /** Buffers a delta until the next `render` and starts the clock. */
  push(delta: string): void {
    this.#pending += delta;
    this.#startedAt ||= performance.now();
    this.#label.textContent = t.answer.thinking;
    this.element.hidden = false;
  }

  /** Shows the buffered deltas. */
  render(): void {
    if (this.#pending === "") return;
    this.#reasoning.append(this.#pending);
    this.#pending = "";
  }

  /** Stops the clock and shows the total time. */
  pause(): void {
    if (this.#startedAt === 0) return;
    this.#elapsedMs += performance.now() - this.#startedAt;
    this.#startedAt = 0;
    this.#label.textContent = t.answer.thoughtFor(durationText(this.#elapsedMs));
  }
}
