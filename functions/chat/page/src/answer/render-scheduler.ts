// Schedules repeated rendering: at most once per frame, and at most a fifth of the time if rendering is slow.

const SLOW_MS = 50;

/** The pause after a slow run, as a multiple of the run's duration. */
const PAUSE_FACTOR = 4;

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
    if (this.#lastMs < SLOW_MS) this.#schedule();
    else this.#timer = setTimeout(() => this.#schedule(), this.#lastMs * PAUSE_FACTOR);
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
