// How an export ends: whole when its last line is of the kind `end`. Pure: bytes in, an answer out.

/** More than that line has. */
const KEPT = 1024;

/** Watches the pieces of an export go by. */
export class Ending {
  #tail = new Uint8Array(0);

  /** Takes the next piece. */
  push(piece) {
    const both = new Uint8Array(this.#tail.length + Math.min(piece.length, KEPT));
    both.set(this.#tail);
    both.set(piece.subarray(-KEPT), this.#tail.length);
    this.#tail = both.slice(-KEPT);
  }

  /** Whether what went by is a whole export. */
  get isWhole() {
    const lines = new TextDecoder().decode(this.#tail).split("\n");
    // A line that is not ended may be the beginning of a longer one.
    if (lines.pop() !== "") return false;
    try {
      return JSON.parse(lines.pop()).kind === "end";
    } catch {
      return false;
    }
  }
}
