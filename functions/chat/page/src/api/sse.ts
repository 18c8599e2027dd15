// A push parser for server-sent events; chunks may be split anywhere.
//
// It follows the event stream format of the HTML standard. CR, LF and CRLF end a line. The first byte-order mark is
// dropped. Comments and unknown fields are skipped. An event without a final blank line is never delivered. The work is
// linear in the text for any chunking, because each chunk is searched for line ends once.

const LINE_END = /\r\n|\r|\n/g;

/** One event; `event` is `message` if the stream names no type. */
export interface SseEvent {
  id: string;
  event: string;
  data: string;
}

/** Parses chunks of an event stream into events. */
export class SseParser {
  #started = false;
  #afterCr = false;
  #parts: string[] = [];
  #id = "";
  #event = "";
  #data: string[] = [];

  /** Takes the next chunk and returns the events that it completes. */
  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let from = this.#skip(text);
    for (const end of text.matchAll(LINE_END)) {
      if (end.index < from) continue;
      this.#parts.push(text.slice(from, end.index));
      const event = this.#line(this.#parts.join(""));
      if (event) events.push(event);
      this.#parts = [];
      from = end.index + end[0].length;
      this.#afterCr = end[0] === "\r" && from === text.length;
    }
    if (from < text.length) this.#parts.push(text.slice(from));
    return events;
  }

  /** The number of characters to skip: 1 for the byte-order mark or for the LF of a split CRLF, else 0. */
  #skip(text: string): number {
    if (text === "") return 0;
    const mark = !this.#started && text[0] === "\uFEFF";
    const rest = this.#afterCr && text[0] === "\n";
    this.#started = true;
    this.#afterCr = false;
    return mark || rest ? 1 : 0;
  }

  #line(line: string): SseEvent | null {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return null;
  }

  #dispatch(): SseEvent | null {
    const event = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    const empty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    return empty ? null : event;
  }
}
