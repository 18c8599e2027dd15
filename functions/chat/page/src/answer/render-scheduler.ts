// Schedules repeated rendering: every second frame of a usual screen, because layout and painting cost more than the rendering
// itself; more rarely on a slow device, and at most a fifth of the time if rendering is slow.

/** The shortest pause between two runs, in milliseconds: with it they are two frames of a screen with 60 Hz apart. */
const SHORTEST_PAUSE_MS = 18;

/** The duration of a run, in milliseconds, after which the pause is as long; after a shorter one it is relatively shorter. */
const EQUAL_PAUSE_MS = 12;

/** The longest pause, as a multiple of the run's duration. */
const MAX_PAUSE_FACTOR = 4;

/** Calls `render` in the next frame after each `request`; after a slow run it pauses to keep the page responsive. */
export class RenderScheduler {
  #render: () => void;
  #lastMs = 0;
  #endedAt = 0;
  #timer: ReturnType<typeof setTimeout> | 0 = 0;
  #frame = 0;

  constructor(render: () => void) {
    this.#render = render;
  }

  /** Requests one run, unless one is pending. */
  request(): void {
    if (this.#timer !== 0 || this.#frame !== 0) return;
    const pause = Math.max(SHORTEST_PAUSE_MS, this.#lastMs * Math.min(MAX_PAUSE_FACTOR, this.#lastMs / EQUAL_PAUSE_MS));
    this.#timer = setTimeout(() => this.#schedule(), this.#endedAt + pause - performance.now());
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
      this.#endedAt = performance.now();
      // The timer fires after the browser's layout, which is the expensive part for hostile text.
      setTimeout(() => {
        this.#endedAt = performance.now();
        this.#lastMs = this.#endedAt - startedAt;
      });
    });
  }
}
