// One turn: starts it or attaches to it, applies its events to the answer's view, and resumes a lost connection.

import { ApiError, chat, regenerate, resume, stopTurn } from "./api.js";

/** The delays before each attempt to resume a lost connection; a new frame resets the attempts. */
const RETRY_DELAYS_MS = [0, 500, 1000, 2000, 4000, 8000];

/** The last request without a response, and its idempotency key. */
let pendingRequest = { body: null, key: null };

/** A turn and its answer; `view` is an `AnswerView`. */
export class Turn {
  conversationId;
  messageId = null;
  /** The error event that ended the turn, or null. */
  error = null;
  /** Whether another client stopped the turn or deleted its conversation. */
  stoppedRemotely = false;
  /** The element of the user message while it may not be stored yet, or null. */
  user = null;
  #open;
  #lastId = null;
  #stopping = false;
  #resuming = false;
  #interrupted = false;
  #abort = new AbortController();

  constructor({ view, conversationId, open }) {
    this.view = view;
    this.conversationId = conversationId;
    this.#open = open;
  }

  /** A turn that sends a new message. */
  static fromMessage({ text, conversationId, agentId, modelType, view }) {
    const body = { message: text, ...withoutEmpty({ conversationId, agentId, modelType, timeZone: timeZone() }) };
    const open = (options) => chat(body, { ...options, idempotencyKey: idempotencyKeyOf(body) });
    return new Turn({ view, conversationId, open });
  }

  /** A turn that regenerates the last answer of a conversation. */
  static regeneration({ conversationId, modelType, view }) {
    const choice = withoutEmpty({ modelType, timeZone: timeZone() });
    const request = { conversationId, ...choice };
    const open = (options) =>
      regenerate(conversationId, choice, { ...options, idempotencyKey: idempotencyKeyOf(request) });
    return new Turn({ view, conversationId, open });
  }

  /** The running turn of a conversation. */
  static attach({ conversationId, messageId, view }) {
    const turn = new Turn({ view, conversationId, open: () => false });
    turn.messageId = messageId;
    return turn;
  }

  /** Stops the turn, which keeps its partial answer; aborts the request if the turn has not started. */
  async stop() {
    if (this.messageId === null) return this.#abort.abort();
    if (this.#stopping) return;
    this.#stopping = true;
    this.view.showStopping();
    try {
      await stopTurn(this.conversationId);
    } catch (error) {
      this.#stopping = false;
      throw error;
    }
  }

  /**
   * Starts the turn and reads the answer.
   *
   * Resolves to `complete` (the stream ended), `unavailable` (the server has no stream of the turn) or `disconnected`
   * (the server cannot be reached). Throws an `ApiError` if the answer never started; its code is `stopped` if the user
   * aborted the request.
   */
  async run({ onStart, onTitle }) {
    const onEvent = (event, id) => this.#handle(event, id, onStart, onTitle);
    try {
      const complete = await this.#open({ signal: this.#abort.signal, onEvent });
      if (complete) return "complete";
      if (this.messageId !== null) return await this.#resume(onEvent);
      throw new ApiError({ code: "disconnected", retryable: true });
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
      throw new ApiError({ code: "stopped", message: "You stopped before the answer began." });
    }
  }

  /** Resumes the stream after the last frame; each attempt that delivers a frame resets the retries. */
  async #resume(onEvent) {
    let failures = 0;
    this.#resuming = true;
    while (failures < RETRY_DELAYS_MS.length) {
      await sleep(RETRY_DELAYS_MS[failures]);
      const before = this.#lastId;
      try {
        const complete = await resume(this.conversationId, this.#lastId, { signal: this.#abort.signal, onEvent });
        if (complete !== false) return complete && !this.#interrupted ? "complete" : "unavailable";
      } catch (error) {
        if (error.status > 0 && !error.retryable) return "unavailable";
        this.view.showStatus("The connection was lost. Reconnecting…");
      }
      failures = this.#lastId === before ? failures + 1 : 0;
    }
    return "disconnected";
  }

  /** Handles one event; ignores repeated frames and frames of another turn. */
  #handle(event, id, onStart, onTitle) {
    if (this.#lastId !== null && !isAfter(id, this.#lastId)) return;
    // The server cannot resume the stream. The answer itself may be complete, so the page loads the stored one.
    if (this.#resuming && event.type === "error" && event.code === "interrupted") {
      this.#interrupted = true;
      return;
    }
    this.#lastId = id;
    if (event.type === "start") this.#start(event, onStart);
    if (event.type === "title") onTitle(event.title);
    if (event.type === "error") this.error = event;
    if (event.type === "done") this.stoppedRemotely = event.finishReason === "stopped" && !this.#stopping;
    this.view.apply(event);
    if (this.#stopping) this.view.showStopping();
  }

  #start({ conversationId, messageId }, onStart) {
    pendingRequest = { body: null, key: null };
    this.conversationId = conversationId;
    this.messageId = messageId;
    onStart();
  }
}

/** Whether a frame's id, `TURN-NUMBER`, follows another id of the same turn. */
function isAfter(id, lastId) {
  const [turn, number] = parseFrameId(id);
  const [lastTurn, lastNumber] = parseFrameId(lastId);
  return turn === lastTurn && number > lastNumber;
}

function parseFrameId(id) {
  const at = id.lastIndexOf("-");
  return [id.slice(0, at), Number(id.slice(at + 1))];
}

/** The user's IANA time zone, or null if the browser knows none that the server would accept. */
function timeZone() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone === "Etc/Unknown" ? null : zone;
}

/** The fields with a value. */
function withoutEmpty(fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

/** The idempotency key of a request. A retry without a response reuses the key, so the server runs the turn once. */
function idempotencyKeyOf(request) {
  const body = JSON.stringify(request);
  if (pendingRequest.body !== body) pendingRequest = { body, key: randomKey() };
  return pendingRequest.key;
}

function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sleep(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
