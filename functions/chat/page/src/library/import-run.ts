// The import of one file: it is sent in parts, and continues with the part that failed.

import { request } from "../api/client.ts";
import { batches, titleOf, type Batch } from "./batches.ts";
import { texts } from "./texts.ts";

const MAX_BYTES = 20 * 1024 * 1024;

/** The timeout of one part of the file. */
const TIMEOUT_MS = 120_000;

/** What the server did with a part. */
interface Outcome {
  imported: string[];
  skipped: { index: number; reason: string }[];
}

/** The file cannot be imported; the message is the text to show. */
export class FileError extends Error {}

/** The import of one file. */
export class Import {
  imported = 0;
  skipped: { index: number; title: string; reason: string }[] = [];
  #batches: Batch[];
  #total: number;
  #done = 0;
  #stopped = false;
  /** A repeated part has the same key, so that it imports nothing twice. */
  #key = crypto.getRandomValues(new Uint32Array(4)).join("-");

  constructor(parts: Batch[]) {
    this.#batches = parts;
    this.#total = parts.reduce((sum, { conversations }) => sum + conversations.length, 0);
  }

  /** Reads a file. */
  static async open(file: File | undefined): Promise<Import> {
    if (!file || file.size > MAX_BYTES) throw new FileError(texts.import.tooLarge);
    let parsed: unknown;
    try {
      parsed = JSON.parse(await file.text());
    } catch {
      throw new FileError(texts.import.invalid);
    }
    const parts = batches(parsed);
    if (parts.length === 0) throw new FileError(texts.import.empty);
    return new Import(parts);
  }

  /** Whether all parts have been sent. */
  get complete(): boolean {
    return this.#done === this.#batches.length;
  }

  /** Ends the import after the part that is being sent. */
  stop(): void {
    this.#stopped = true;
  }

  /** Sends the parts that have not been sent. */
  async run(onProgress: (done: number, all: number) => void): Promise<void> {
    for (const { first, conversations } of this.#batches.slice(this.#done)) {
      if (this.#stopped) return;
      onProgress(first, this.#total);
      await this.#send(first, conversations);
      this.#done += 1;
    }
  }

  async #send(first: number, conversations: unknown[]): Promise<void> {
    const headers = { "idempotency-key": `${this.#key}-${first}` };
    const sent = request<Outcome>("POST", "/api/conversations/import", conversations, TIMEOUT_MS, headers);
    const { imported, skipped } = await sent.catch((thrown: unknown): Outcome => {
      // The others can be imported all the same.
      if (Object(thrown).status !== 413) throw thrown;
      const reason = texts.import.conversationTooLarge;
      return { imported: [], skipped: conversations.map((_, index) => ({ index, reason })) };
    });
    this.imported += imported.length;
    for (const { index, reason } of skipped) this.skipped.push({ index: first + index, title: titleOf(conversations[index]), reason });
  }
}
