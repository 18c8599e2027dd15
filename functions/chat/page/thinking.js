// The model's reasoning, in a collapsed section.

import { el } from "./dom.js";
import { durationText } from "./strings.js";

/** The reasoning of one answer, with the time that the model spent on it. */
export class Thinking {
  element = el("details", { class: "thinking", hidden: true });
  #label = el("span", {}, "Thinking");
  #reasoning = el("div", { class: "reasoning" });
  #pending = "";
  #startedAt = 0;
  #elapsedMs = 0;

  constructor() {
    this.element.append(el("summary", {}, this.#label), this.#reasoning);
  }

  /** Shows stored reasoning; an empty text hides the section. */
  set(text) {
    this.element.hidden = text === "";
    this.#reasoning.textContent = text;
  }

  /** Buffers a delta until the next `render` and starts the clock. */
  push(delta) {
    this.#pending += delta;
    this.#startedAt ||= performance.now();
    this.#label.textContent = "Thinking…";
    this.element.hidden = false;
  }

  /** Shows the buffered deltas. */
  render() {
    this.#reasoning.append(this.#pending);
    this.#pending = "";
  }

  /** Stops the clock and shows the total time. */
  pause() {
    if (this.#startedAt === 0) return;
    this.#elapsedMs += performance.now() - this.#startedAt;
    this.#startedAt = 0;
    this.#label.textContent = `Thought for ${durationText(this.#elapsedMs)}`;
  }
}
