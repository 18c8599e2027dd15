// One turn: it is begun or found running, its events move the answer's view, a lost connection is taken up again, and the
// end is one of a few.

import { ApiError, chat, regenerate, resume, stopTurn } from "./api.js";

/** How long is waited before a lost connection is tried again, in milliseconds; each new frame starts the row anew. */
const WAITS = [0, 500, 1000, 2000, 4000, 8000];

let unanswered = { body: null, key: null };

/** A message on its way and its answer; `view` is an `AnswerView`. */
export class Turn {
  conversationId;
  messageId = null;
  /** The error that ended the turn, if one did. */
  error = null;
  /** Whether somebody else ended it: by a stop, or with its conversation. */
  stoppedElsewhere = false;
  /** The view of the message that is answered, where it is not stored yet. */
  user = null;
  #open;
  #last = null;
  #stopping = false;
  #resuming = false;
  #lost = false;
  #abort = new AbortController();

  constructor({ view, conversationId, open }) {
    this.view = view;
    this.conversationId = conversationId;
    this.#open = open;
  }

  /** A turn that a new message begins. */
  static asking({ text, conversationId, agentId, modelType, view }) {
    const body = { message: text, ...given({ conversationId, agentId, modelType }) };
    const open = (options) => chat(body, { ...options, idempotencyKey: keyOf(body) });
    return new Turn({ view, conversationId, open });
  }

  /** A turn that answers the last message of a conversation again. */
  static again({ conversationId, modelType, view }) {
    const choice = given({ modelType });
    const open = (options) =>
      regenerate(conversationId, choice, { ...options, idempotencyKey: keyOf({ conversationId, ...choice }) });
    return new Turn({ view, conversationId, open });
  }

  /** The turn that runs in a conversation. */
  static running({ conversationId, messageId, view }) {
    const turn = new Turn({ view, conversationId, open: () => false });
    turn.messageId = messageId;
    return turn;
  }

  /** Asks the server to stop the turn, which then ends with what was said; before it has begun, gives it up. */
  async stop() {
    if (this.messageId === null) return this.#abort.abort();
    if (this.#stopping) return;
    this.#stopping = true;
    this.view.stopping();
    try {
      await stopTurn(this.conversationId);
    } catch (error) {
      this.#stopping = false;
      throw error;
    }
  }

  /**
   * Begins the turn and reads the answer.
   *
   * Resolves to `ended` (the stream came to its end), `gone` (the server has nothing more of it) or `cut` (the server
   * cannot be reached). Throws an `ApiError` when the answer never began; an aborted request that had no answer yet has the code `stopped`.
   */
  async run({ onStart, onTitle }) {
    const onEvent = (event, id) => this.#take(event, id, onStart, onTitle);
    try {
      const complete = await this.#open({ signal: this.#abort.signal, onEvent });
      if (complete) return "ended";
      if (this.messageId !== null) return await this.#resume(onEvent);
      throw new ApiError({ code: "cut", retryable: true });
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
      throw new ApiError({ code: "stopped", message: "You stopped before the answer began." });
    }
  }

  /** Takes the stream up again after its last frame, as often as something comes of it. */
  async #resume(onEvent) {
    let failed = 0;
    this.#resuming = true;
    while (failed < WAITS.length) {
      await sleep(WAITS[failed]);
      const before = this.#last;
      try {
        const complete = await resume(this.conversationId, this.#last, { signal: this.#abort.signal, onEvent });
        if (complete !== false) return complete && !this.#lost ? "ended" : "gone";
      } catch (error) {
        if (error.status > 0 && !error.retryable) return "gone";
        this.view.waiting("The connection was lost. Reconnecting…");
      }
      failed = this.#last === before ? failed + 1 : 0;
    }
    return "cut";
  }

  /** A frame that was there before, or one of another turn, changes nothing. */
  #take(event, id, onStart, onTitle) {
    if (this.#last !== null && !follows(id, this.#last)) return;
    // The server cannot go on from here, which says nothing of the answer: that is read as it is stored.
    if (this.#resuming && event.type === "error" && event.code === "interrupted") {
      this.#lost = true;
      return;
    }
    this.#last = id;
    if (event.type === "start") this.#start(event, onStart);
    if (event.type === "title") onTitle(event.title);
    if (event.type === "error") this.error = event;
    if (event.type === "done") this.stoppedElsewhere = event.finishReason === "stopped" && !this.#stopping;
    this.view.apply(event);
    if (this.#stopping) this.view.stopping();
  }

  #start({ conversationId, messageId }, onStart) {
    unanswered = { body: null, key: null };
    this.conversationId = conversationId;
    this.messageId = messageId;
    onStart();
  }
}

/** Whether a frame's id, `TURN-NUMBER`, comes after another one of the same turn. */
function follows(id, last) {
  const [turn, number] = split(id);
  const [lastTurn, lastNumber] = split(last);
  return turn === lastTurn && number > lastNumber;
}

function split(id) {
  const at = id.lastIndexOf("-");
  return [id.slice(0, at), Number(id.slice(at + 1))];
}

/** The fields that have a value. */
function given(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

/** The same request sent again after no answer came carries the same key, so that the server answers it once. */
function keyOf(request) {
  const body = JSON.stringify(request);
  if (unanswered.body !== body) unanswered = { body, key: randomKey() };
  return unanswered.key;
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
