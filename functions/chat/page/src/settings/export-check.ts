// Checks that an export is complete: its last line has the kind `end`. Pure: bytes in, a boolean out.

/** The bytes kept of the end of an export; the last line is shorter. */
const TAIL_BYTES = 1024;

/** Inspects the chunks of an export as they arrive. */
export class ExportCheck {
  #tail = new Uint8Array(0);

  /** Takes the next chunk. */
  push(chunk: Uint8Array): void {
    const joined = new Uint8Array(this.#tail.length + Math.min(chunk.length, TAIL_BYTES));
    joined.set(this.#tail);
    joined.set(chunk.subarray(-TAIL_BYTES), this.#tail.length);
    this.#tail = joined.slice(-TAIL_BYTES);
  }

  /** Whether the chunks so far are a complete export. */
  get isComplete(): boolean {
    const lines = new TextDecoder().decode(this.#tail).split("\n");
    // A line without a line end may be the beginning of a longer one.
    if (lines.pop() !== "") return false;
    try {
      return JSON.parse(lines.pop() ?? "").kind === "end";
    } catch {
      return false;
    }
  }
}
