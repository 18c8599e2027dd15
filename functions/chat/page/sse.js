// Server-sent events, read by pushing text: pieces may be cut anywhere.
//
// Follows the event stream format of the HTML standard: CR, LF and CRLF end a line, a byte-order mark is dropped once,
// comments and unknown fields are skipped, and an event that no blank line ended is never delivered. The work is linear
// in the text however it is cut, because a piece is searched for line ends once and never again.

const LINE_END = /\r\n|\r|\n/g;

/** Turns pieces of an event stream into events of the shape `{ id, event, data }`. */
export class SseParser {
  #begun = false;
  #afterCr = false;
  #pieces = [];
  #id = "";
  #event = "";
  #data = [];

  /** Takes the next piece of the stream and returns the events that it completes. */
  push(text) {
    const events = [];
    let from = this.#skip(text);
    for (const end of text.matchAll(LINE_END)) {
      if (end.index < from) continue;
      this.#pieces.push(text.slice(from, end.index));
      const event = this.#line(this.#pieces.join(""));
      if (event) events.push(event);
      this.#pieces = [];
      from = end.index + end[0].length;
      this.#afterCr = end[0] === "\r" && from === text.length;
    }
    if (from < text.length) this.#pieces.push(text.slice(from));
    return events;
  }

  /** How much of a piece belongs to what came before it: a byte-order mark, or the LF of a CRLF. */
  #skip(text) {
    if (text === "") return 0;
    const mark = !this.#begun && text[0] === "\uFEFF";
    const rest = this.#afterCr && text[0] === "\n";
    this.#begun = true;
    this.#afterCr = false;
    return mark || rest ? 1 : 0;
  }

  #line(line) {
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

  #dispatch() {
    const event = { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
    const empty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    return empty ? null : event;
  }
}
