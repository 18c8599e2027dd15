// One turn in the making: the message is sent, events move the answer's view, and the end is one of a few.

import { ApiError, chat } from "./api.js";

let unanswered = { body: null, key: null };

/** A message on its way and its answer; `view` is an `AnswerView`. */
export class Turn {
  conversationId;
  messageId = null;
  #body;
  #abort = new AbortController();

  constructor({ text, conversationId, agentId, modelType, view, user }) {
    this.text = text;
    this.view = view;
    this.user = user;
    this.conversationId = conversationId;
    const chosen = Object.entries({ conversationId, agentId, modelType }).filter(([, value]) => value);
    this.#body = { message: text, ...Object.fromEntries(chosen) };
  }

  /** Stops reading; the server finishes the answer and keeps it. */
  stop() {
    this.#abort.abort();
  }

  /**
   * Sends the message and reads the answer.
   *
   * Resolves to `ended` (the stream came to its end), `cut` (it did not) or `stopped` (by `stop`). Throws an `ApiError`
   * when the answer never began; an aborted request that had no answer yet has the code `stopped`.
   */
  async run({ onStart, onTitle }) {
    const onEvent = (event) => {
      if (event.type === "start") this.#start(event, onStart);
      if (event.type === "title") onTitle(event.title);
      this.view.apply(event);
    };
    try {
      const complete = await chat(this.#body, { idempotencyKey: this.#key(), signal: this.#abort.signal, onEvent });
      if (complete || this.messageId) return complete ? "ended" : "cut";
      throw new ApiError({ code: "cut", retryable: true });
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
      if (this.messageId) return "stopped";
      throw new ApiError({ code: "stopped", message: "You stopped before the answer began." });
    }
  }

  #start({ conversationId, messageId }, onStart) {
    unanswered = { body: null, key: null };
    this.conversationId = conversationId;
    this.messageId = messageId;
    onStart();
  }

  /** The same message sent again after no answer came carries the same key, so that the server answers it once. */
  #key() {
    const body = JSON.stringify(this.#body);
    if (unanswered.body !== body) unanswered = { body, key: randomKey() };
    return unanswered.key;
  }
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
