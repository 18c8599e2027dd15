// The texts of a stored answer between its tool calls. Pure.

import type { Message, ToolCall } from "../api/types.ts";

/** What an answer has between two calls. */
export interface Texts {
  thinking: string;
  /** Missing if it is unknown. */
  thinkingMs: number | undefined;
  text: string;
}

/**
 * Splits the texts of a stored answer at its calls.
 *
 * Calls of earlier releases have no position: all reasoning is before them, and all text is after them.
 */
export class StoredTexts {
  #text: string[];
  #thinking: string[];
  #thinkingMs: number | undefined;
  #from = { text: 0, thinking: 0, thinkingMs: 0 };

  constructor({ content = "", thinking = "", thinkingMs }: Message) {
    [this.#text, this.#thinking] = [Array.from(content), Array.from(thinking)];
    this.#thinkingMs = thinkingMs;
  }

  /** What is between the previous call and this one. */
  before({ position }: ToolCall): Texts {
    if (position) return this.#take(position.text, position.thinking, position.thinkingMs);
    return this.#take(this.#from.text, this.#thinking.length, this.#thinkingMs);
  }

  /** What is after the last call. */
  remaining(): Texts {
    return this.#take(this.#text.length, this.#thinking.length, this.#thinkingMs);
  }

  #take(text: number, thinking: number, thinkingMs: number | undefined): Texts {
    const from = this.#from;
    this.#from = { text, thinking, thinkingMs: thinkingMs ?? from.thinkingMs };
    return {
      thinking: this.#thinking.slice(from.thinking, thinking).join(""),
      thinkingMs: thinkingMs === undefined ? undefined : Math.max(0, thinkingMs - from.thinkingMs),
      text: this.#text.slice(from.text, text).join(""),
    };
  }
}
