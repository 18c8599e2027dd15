// One turn: sends a message, or answers again or further; reads the events and resumes after a lost connection.

import { actOnAnswer, ApiError, chat, resume, stopTurn, type AnswerAction, type StreamOptions } from "../api/client.ts";
import { pauseMs } from "../api/events.ts";
import type { Attachment, ErrorEvent, StartEvent, TurnEvent } from "../api/types.ts";
import type { AnswerView } from "../answer/answer.ts";
import { t } from "../i18n/index.ts";
import type { QuestionView } from "./question.ts";

/** The delays before each attempt to resume a lost connection; a new frame resets the attempts. */
const RETRY_DELAYS_MS = [0, 500, 1000, 2000, 4000, 8000];

/** The last request without a response, and its idempotency key. */
let pendingRequest = { body: "", key: "" };

/** Opens the stream of a turn; resolves to whether it ended, and to false without a stream. */
type Open = (options: Omit<StreamOptions, "idempotencyKey" | "mayLeave">) => Promise<boolean>;

/** How reading a turn ended. */
export type TurnEnd = "complete" | "unavailable" | "disconnected";

interface NewTurn {
  view: AnswerView;
  conversationId: string | null;
  open: Open;
}

/** A turn of a stored answer. */
interface AnswerTurn {
  view: AnswerView;
  conversationId: string;
}

/** A message of the user that may not have arrived yet. */
export interface OutgoingMessage {
  text: string;
  attachments?: Attachment[];
  conversationId: string | null;
  agentId: string | null;
  modelType: string | null;
  search: string | null;
  /** The message after which it goes, null for the beginning; missing for the end of the shown branch. */
  parentId?: string | null;
  /** The idempotency key with which it was sent. */
  key?: string;
  /** Whether it is sent again after a sign-in. */
  repeated?: boolean;
  /** Whether it begins a temporary conversation. */
  temporary?: boolean;
}

interface TurnListeners {
  onStart: () => void;
  onTitle: (title: string) => void;
}

/** A turn and its answer. */
export class Turn {
  readonly view: AnswerView;
  conversationId: string | null;
  messageId: string | null = null;
  /** The error event that ended the turn, or null. */
  error: ErrorEvent | null = null;
  /** Whether another client stopped the turn or deleted its conversation. */
  stoppedRemotely = false;
  /** Whether the answer ended by itself. */
  finished = false;
  /** The view of the user message while it may not be stored yet, or null. */
  user: QuestionView | null = null;
  #open: Open;
  #lastId: string | null = null;
  #stopping = false;
  #resuming = false;
  #interrupted = false;
  #abort = new AbortController();

  constructor({ view, conversationId, open }: NewTurn) {
    this.view = view;
    this.conversationId = conversationId;
    this.#open = open;
  }

  /** A turn that sends a new message. */
  static fromMessage(message: OutgoingMessage, view: AnswerView): Turn {
    const { text, attachments = [], conversationId, agentId, modelType, search, parentId, repeated = false, temporary = false } = message;
    const files = attachments.length > 0 && { attachments: attachments.map(({ id }) => id) };
    const choice = withoutEmpty({ conversationId, agentId, modelType, search, timeZone: timeZone() });
    const body = { message: text, ...choice, ...files, ...(parentId !== undefined && { parentId }), ...(temporary && { temporary }) };
    const open: Open = (options) => {
      message.key ??= idempotencyKeyOf(body);
      return chat(body, { ...options, idempotencyKey: message.key, mayLeave: !repeated });
    };
    return new Turn({ view, conversationId, open });
  }

  /** A turn that writes another version of an answer, or continues it. */
  static ofAnswer(
    action: AnswerAction,
    { conversationId, messageId, modelType, search, view }: AnswerTurn & Record<"messageId" | "modelType" | "search", string | null>,
  ): Turn {
    const choice = withoutEmpty({ messageId, modelType, search, timeZone: timeZone() });
    const request = { conversationId, action, ...choice };
    const open: Open = (options) =>
      actOnAnswer(conversationId, action, choice, { ...options, idempotencyKey: idempotencyKeyOf(request) });
    return new Turn({ view, conversationId, open });
  }

  /** The running turn of a conversation. */
  static attach({ conversationId, messageId, view }: AnswerTurn & { messageId: string }): Turn {
    const turn = new Turn({ view, conversationId, open: () => Promise.resolve(false) });
    turn.messageId = messageId;
    return turn;
  }

  /** Stops the turn, which keeps its partial answer; aborts the request if the turn has not started. */
  async stop(): Promise<void> {
    if (this.messageId === null || this.conversationId === null) return this.#abort.abort();
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
  async run(listeners: TurnListeners): Promise<TurnEnd> {
    const onEvent = (event: TurnEvent, id: string) => this.#handle(event, id, listeners);
    if (this.messageId === null) this.view.sentAt = performance.now();
    try {
      const complete = await this.#open({ signal: this.#abort.signal, onEvent });
      if (complete) return "complete";
      if (this.messageId !== null) return await this.#resume(this.conversationId ?? "", onEvent);
      throw new ApiError({ code: "disconnected", retryable: true });
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error;
      throw new ApiError({ code: "stopped", message: t.chat.stoppedBefore });
    } finally {
      pauseMs.value = 0;
    }
  }

  /** Resumes the stream after the last frame; each attempt that delivers a frame resets the retries. */
  async #resume(conversationId: string, onEvent: (event: TurnEvent, id: string) => void): Promise<TurnEnd> {
    let failures = 0;
    this.#resuming = true;
    while (failures < RETRY_DELAYS_MS.length) {
      const delayMs = RETRY_DELAYS_MS[failures] || pauseMs.value;
      // The demo itself shows the loss that it made.
      if (delayMs > pauseMs.value) this.view.showStatus(t.chat.reconnecting);
      await sleepOrOnline(delayMs);
      const before = this.#lastId;
      try {
        const complete = await resume(conversationId, this.#lastId, { signal: this.#abort.signal, onEvent });
        if (complete !== false) return complete && !this.#interrupted ? "complete" : "unavailable";
      } catch (thrown) {
        const error = ApiError.from(thrown);
        if (error.status > 0 && !error.retryable) return "unavailable";
      }
      failures = this.#lastId === before ? failures + 1 : 0;
    }
    return "disconnected";
  }

  /** Handles one event; ignores repeated frames and frames of another turn. */
  #handle(event: TurnEvent, id: string, { onStart, onTitle }: TurnListeners): void {
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
    if (event.type === "done") {
      this.finished = event.finishReason === "stop";
      this.stoppedRemotely = event.finishReason === "stopped" && !this.#stopping;
    }
    this.view.apply(event);
    const ended = event.type === "done" || event.type === "error";
    if (this.#stopping && !ended) this.view.showStopping();
  }

  #start({ conversationId, messageId }: StartEvent, onStart: () => void): void {
    pendingRequest = { body: "", key: "" };
    this.conversationId = conversationId;
    this.messageId = messageId;
    onStart();
  }
}

/** Whether a frame's id, `TURN-NUMBER`, follows another id of the same turn. */
function isAfter(id: string, lastId: string): boolean {
  const [turn, number] = parseFrameId(id);
  const [lastTurn, lastNumber] = parseFrameId(lastId);
  return turn === lastTurn && number > lastNumber;
}

function parseFrameId(id: string): [string, number] {
  const at = id.lastIndexOf("-");
  return [id.slice(0, at), Number(id.slice(at + 1))];
}

/** The user's IANA time zone, or null if the browser knows none that the server would accept. */
function timeZone(): string | null {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone === "Etc/Unknown" ? null : zone;
}

/** The fields with a value. */
function withoutEmpty(fields: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}

/** The idempotency key of a request. A retry without a response reuses the key, so the server runs the turn once. */
function idempotencyKeyOf(request: object): string {
  const body = JSON.stringify(request);
  if (pendingRequest.body !== body) pendingRequest = { body, key: randomKey() };
  return pendingRequest.key;
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/** Waits for a time, or until the browser is online again. */
function sleepOrOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    window.addEventListener("online", () => resolve(), { once: true });
  });
}
