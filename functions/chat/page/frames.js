// Work that is wanted again and again, done at most once per frame, and never for most of the time.

const SLOW_MS = 50;
const SHARE = 4;

/** Runs `work` with the next frame after each `request`; after slow work it rests, so that the page stays usable. */
export class Frames {
  #work;
  #rest = 0;
  #timer = 0;
  #frame = 0;

  constructor(work) {
    this.#work = work;
  }

  /** Asks for the work to be done, if it has not been asked for already. */
  request() {
    if (this.#timer !== 0 || this.#frame !== 0) return;
    if (this.#rest < SLOW_MS) this.#schedule();
    else this.#timer = setTimeout(() => this.#schedule(), this.#rest * SHARE);
  }

  /** Takes the request back. */
  cancel() {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#timer = 0;
    this.#frame = 0;
  }

  #schedule() {
    this.#timer = 0;
    this.#frame = requestAnimationFrame(() => {
      const began = performance.now();
      this.#frame = 0;
      this.#work();
      // By then the browser has laid the page out as well, which for hostile text is the dear part.
      setTimeout(() => {
        this.#rest = performance.now() - began;
      });
    });
  }
}
