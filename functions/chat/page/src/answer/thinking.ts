// The model's reasoning, in a collapsed section.

import { durationText, t } from "../i18n/index.ts";
import { el } from "../view/dom.ts";
import { GrowingText } from "./growing-text.ts";

/** The distance to its end, in pixels, within which the open reasoning follows what is added. */
const FOLLOW_DISTANCE = 32;

/** The reasoning of one answer, with the time that the model spent on it. */
export class Thinking {
  element = el("details", { class: "thinking fold", hidden: true });
  #label = el("span", {}, t.answer.thoughts);
  #box = el("div", { class: "reasoning" });
  #reasoning = new GrowingText(this.#box);
  #startedAt = 0;
  #elapsedMs = 0;

  constructor() {
    this.element.append(el("summary", {}, this.#label), this.#box);
  }

  /** Shows stored reasoning and, if it is known, its time. */
  set(text: string, ms: number | undefined): void {
    this.element.hidden = false;
    this.#reasoning.push(text);
    this.#reasoning.render();
    if (ms === undefined) return;
    this.#elapsedMs = ms;
    this.#label.textContent = t.answer.thoughtFor(durationText(ms));
  }

  /** Buffers a delta until the next `render` and starts the clock. */
  push(delta: string): void {
    this.#reasoning.push(delta);
    this.#startedAt ||= performance.now();
    this.#label.textContent = t.answer.thinking;
    this.element.hidden = false;
  }

  /** Shows the buffered deltas, and follows them unless the reader has scrolled up. */
  render(): void {
    const distance = () => this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight;
    const follows = this.element.open && this.#startedAt > 0 && distance() < FOLLOW_DISTANCE;
    this.#reasoning.render();
    if (follows) this.#box.scrollTop = this.#box.scrollHeight;
  }

  /** Stops the clock and shows the total time. */
  pause(): void {
    if (this.#startedAt === 0) return;
    this.#elapsedMs += performance.now() - this.#startedAt;
    this.#startedAt = 0;
    this.#label.textContent = t.answer.thoughtFor(durationText(this.#elapsedMs));
  }

  /** Ends the reasoning. */
  finish(cut = false): void {
    this.pause();
    this.#reasoning.finish(cut);
  }

  /** Lets the reasoning grow again after its end. */
  reopen(): void {
    this.#reasoning.reopen();
  }
}
