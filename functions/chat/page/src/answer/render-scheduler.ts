// Schedules repeated rendering: at most once per frame, every second frame on a slow device, and at most a fifth of the time
// if rendering is slow.

/** The duration of a run, in milliseconds, after which the pause is as long; after a shorter one it is relatively shorter. */
const EQUAL_PAUSE_MS = 12;

/** The longest pause, as a multiple of the run's duration. */
const MAX_PAUSE_FACTOR = 4;

/** Calls `render` in the next frame after each `request`; after a slow run it pauses to keep the page responsive. */
export class RenderScheduler {
  #render: () => void;
  #lastMs = 0;
  #timer: ReturnType<typeof setTimeout> | 0 = 0;
  #frame = 0;

  constructor(render: () => void) {
    this.#render = render;
  }

  /** Requests one run, unless one is pending. */
  request(): void {
    if (this.#timer !== 0 || this.#frame !== 0) return;
    const pause = this.#lastMs * Math.min(MAX_PAUSE_FACTOR, this.#lastMs / EQUAL_PAUSE_MS);
    this.#timer = setTimeout(() => this.#schedule(), pause);
  }

  /** Cancels the pending run. */
  cancel(): void {
    if (this.#timer !== 0) clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#timer = 0;
    this.#frame = 0;
  }

  #schedule(): void {
    this.#timer = 0;
    this.#frame = requestAnimationFrame(() => {
      const startedAt = performance.now();
      this.#frame = 0;
      this.#render();
      // The timer fires after the browser's layout, which is the expensive part for hostile text.
      setTimeout(() => {
        this.#lastMs = performance.now() - startedAt;
      });
    });
  }
}
