// The client of the HTTP API: requests with the key, failures as `ApiError`, turns as streams of events.

import { credential, freshCredential, promptForCredential, readAuthentication, rejectCredential } from "./credential.ts";
import { renewSession } from "./session.ts";
import { SseParser } from "./sse.ts";
import type { Agent, Conversation, Erasure, ErrorEvent, Execution, Message, Model, TurnEvent } from "./types.ts";

/** The timeout of a response, and of each chunk of a stream. The server sends a keep-alive every ten seconds. */
const TIMEOUT_MS = 30_000;

/** An erasure waits for running turns and then deletes item by item; a function runs for at most 15 minutes. */
const ERASURE_TIMEOUT_MS = 900_000;

/**
 * A failed request.
 *
 * `code` and `message` come from the server; the page itself sets the codes `network`, `offline`, `disconnected`,
 * `unreadable` and `stopped`.
 */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  /** The wait before a retry, in seconds. */
  readonly retryAfter: number;
  readonly requestId: string | null;

  constructor({ code, message = "", status = 0, retryable = false, retryAfter = 0, requestId = null }: ErrorFields) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.retryable = retryable;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  /** The error of a failed turn. */
  static ofEvent(event: ErrorEvent): ApiError {
    return new ApiError({ ...event, retryAfter: event.retryAfterSeconds ?? 0, requestId: event.requestId ?? null });
  }

  /** Any thrown value as an `ApiError`. */
  static from(error: unknown): ApiError {
    return error instanceof ApiError ? error : new ApiError({ code: "unreadable", message: String(error) });
  }
}

interface ErrorFields {
  code: string;
  message?: string;
  status?: number;
  retryable?: boolean;
  retryAfter?: number;
  requestId?: string | null;
}

/** Receives each event of a turn and the id of its frame. */
export type OnEvent = (event: TurnEvent, id: string) => void;

/** The options of a streamed request. */
export interface StreamOptions {
  idempotencyKey: string;
  signal: AbortSignal;
  onEvent: OnEvent;
}

interface RequestOptions {
  method: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** The time of the last request that could not reach the server; 0 once a later request has succeeded. */
let failedAt = 0;
const reachableListeners = new Set<() => void>();

/** Calls `listener` when a request that began after one that could not reach the server succeeds. */
export function onReachable(listener: () => void): void {
  reachableListeners.add(listener);
}

function notifyReachable(): void {
  failedAt = 0;
  for (const listener of reachableListeners) listener();
}

/** Lists one page of the caller's conversations. */
export function listConversations(
  cursor: string | null = null,
): Promise<{ conversations: Conversation[]; nextCursor: string | null }> {
  return request("GET", `/api/conversations?${query({ limit: 30, cursor })}`);
}

/** Reads a conversation and one page of its messages. */
export function readConversation(
  id: string,
  cursor: string | null = null,
): Promise<{ conversation: Conversation; messages: Message[]; nextCursor: string | null }> {
  return request("GET", `/api/conversations/${encodeURIComponent(id)}?${query({ limit: 100, cursor })}`);
}

/** Changes the title of a conversation. */
export function renameConversation(id: string, title: string): Promise<{ conversation?: Conversation } & Conversation> {
  return request("PATCH", `/api/conversations/${encodeURIComponent(id)}`, { title });
}

/** Deletes a conversation and everything in it. */
export function deleteConversation(id: string): Promise<null> {
  return request("DELETE", `/api/conversations/${encodeURIComponent(id)}`);
}

/** Lists the agents. */
export function listAgents(): Promise<{ agents: Agent[] }> {
  return request("GET", "/api/agents");
}

/** Lists the models. */
export function listModels(): Promise<{ models: Model[] }> {
  return request("GET", "/api/models");
}

/**
 * Streams all stored data of the caller, as chunks of JSON lines.
 *
 * The chunks end without an error if the connection breaks; `ExportCheck` checks whether they are complete.
 */
export async function* exportAccount(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const response = await fetchWithKey("/api/me/export", { method: "GET", signal });
  if (!response.ok) throw await toApiError(response);
  const reader = bodyOf(response).getReader();
  try {
    for (;;) {
      const chunk = await readChunk(reader, signal, TIMEOUT_MS);
      if (chunk === null) return;
      yield chunk;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Erases all stored data of the caller; `confirm` is the confirmation text. Resolves to the counts of erased items. */
export function eraseAccount(confirm: string): Promise<Erasure> {
  return request("DELETE", "/api/me", { confirm }, ERASURE_TIMEOUT_MS);
}

/** Requests the server to stop the running turn of a conversation. Resolves to whether there is one. */
export async function stopTurn(id: string): Promise<boolean> {
  return (await request<{ stopping: boolean }>("POST", `/api/conversations/${encodeURIComponent(id)}/stop`)).stopping;
}

/** Lists the tool calls of an answer with their arguments; for administrators only. */
export async function listExecutions(messageId: string): Promise<Execution[]> {
  return (await request<{ executions: Execution[] }>("GET", `/api/admin/executions?${query({ message: messageId })}`)).executions;
}

/**
 * Sends a message and calls `onEvent` with each event of the answer and the id of its frame.
 *
 * Resolves to whether the stream ended with a `done` or an `error` event. Throws an `ApiError` when the server rejects
 * the message or cannot be reached, and an `AbortError` when `signal` fires.
 */
export function chat(message: object, options: StreamOptions): Promise<boolean> {
  return startTurn("/api/chat", message, options);
}

/** Regenerates the last answer of a conversation; otherwise like `chat`. */
export function regenerate(id: string, choice: object, options: StreamOptions): Promise<boolean> {
  const path = `/api/conversations/${encodeURIComponent(id)}/regenerate`;
  return startTurn(path, choice, options);
}

/** Reads the running turn of a conversation after the frame `lastId`, or from its start; null if there is no stream. */
export async function resume(
  id: string,
  lastId: string | null,
  { signal, onEvent }: { signal: AbortSignal; onEvent: OnEvent },
): Promise<boolean | null> {
  const headers: Record<string, string> = lastId === null ? {} : { "last-event-id": lastId };
  const path = `/api/conversations/${encodeURIComponent(id)}/stream`;
  const response = await fetchWithKey(path, { method: "GET", headers, signal });
  if (response.status === 204) return null;
  if (!response.ok) throw await toApiError(response);
  return readEvents(bodyOf(response).getReader(), onEvent, signal);
}

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** The body of a response; a response without one cannot be read. */
function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (!response.body) throw new ApiError({ code: "unreadable" });
  return response.body;
}

async function startTurn(
  path: string,
  body: object,
  { idempotencyKey, signal, onEvent }: StreamOptions,
): Promise<boolean> {
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  const response = await fetchWithKey(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  if (!response.ok) throw await toApiError(response);
  return readEvents(bodyOf(response).getReader(), onEvent, signal);
}

/** Reads events until one ends the turn, the stream ends, or a chunk times out. Resolves to whether the turn ended. */
export async function readEvents(
  reader: Reader,
  onEvent: OnEvent,
  signal?: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<boolean> {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const chunk = await readChunk(reader, signal, timeoutMs);
      if (chunk === null) return false;
      for (const { id, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
        const event = parseEvent(data);
        if (event) onEvent(event, id);
        if (event?.type === "done" || event?.type === "error") return true;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The next chunk, or null when the stream ends, breaks or times out. */
async function readChunk(reader: Reader, signal: AbortSignal | undefined, timeoutMs: number): Promise<Uint8Array | null> {
  try {
    const { done, value } = await withTimeout(reader.read(), timeoutMs);
    return done ? null : (value ?? null);
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** The event in a frame; null for the last frame, `[DONE]`, and for invalid JSON. */
function parseEvent(data: string): TurnEvent | null {
  try {
    return Object(JSON.parse(data));
  } catch {
    return null;
  }
}

/** Rejects if `read` does not settle within the timeout. */
function withTimeout<T>(read: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, timeoutMs);
  });
  return Promise.race([read, timeout]).finally(() => clearTimeout(timer));
}

/** Sends a request with the key and reads the JSON of its response; null without content. */
export async function request<T>(method: string, path: string, body?: object, timeoutMs = TIMEOUT_MS): Promise<T> {
  const headers: Record<string, string> = body ? { "content-type": "application/json" } : {};
  const response = await fetchWithKey(path, { method, headers, ...(body && { body: JSON.stringify(body) }), timeoutMs });
  if (!response.ok) throw await toApiError(response);
  return response.status === 204
    ? (null as T)
    : response.json().catch(() => Promise.reject(new ApiError({ code: "unreadable" })));
}

/** Reads a text with the key. */
export async function requestText(path: string): Promise<string> {
  const response = await fetchWithKey(path, { method: "GET" });
  if (!response.ok) throw await toApiError(response);
  return response.text();
}

/** Sends a request with the key. On status 401 it renews the session or prompts for a credential, and retries until the user cancels. */
async function fetchWithKey(path: string, options: RequestOptions): Promise<Response> {
  for (let renewed = false; ; ) {
    const used = await freshCredential();
    const response = await fetchOnce(path, options, used);
    if (response.status !== 401) return response;
    if (used !== null && !renewed) {
      renewed = true;
      if (await renewSession(used)) continue;
    }
    if (used !== null) rejectCredential(used);
    if (credential() !== null || (await promptForCredential(used !== null))) continue;
    if ((await readAuthentication())?.signIn) throw new ApiError({ code: "signed_out", status: 401 });
    return response;
  }
}

/**
 * Sends one request; without a signal of its own it times out.
 *
 * The path is relative to the page, which may be below the stage of an API.
 */
async function fetchOnce(
  path: string,
  { timeoutMs = TIMEOUT_MS, ...options }: RequestOptions,
  used: string | null,
): Promise<Response> {
  const keyHeader: Record<string, string> = used === null ? {} : { "x-api-key": used };
  const headers = { ...options.headers, ...keyHeader, ...(await bodyHashHeader(options)) };
  const signal = options.signal ?? AbortSignal.timeout(timeoutMs);
  const startedAt = performance.now();
  try {
    const response = await fetch(`.${path}`, { ...options, headers, signal, cache: "no-store" });
    if (failedAt !== 0 && failedAt < startedAt) notifyReachable();
    return response;
  } catch {
    options.signal?.throwIfAborted();
    failedAt = performance.now();
    throw new ApiError({ code: navigator.onLine === false ? "offline" : "network", retryable: true });
  }
}

/**
 * The header with the SHA-256 of the body, without which CloudFront cannot sign a request that is not a GET.
 *
 * Browsers compute hashes only in secure contexts (TLS or localhost). CloudFront serves no others.
 */
async function bodyHashHeader({ method, body = "" }: RequestOptions): Promise<Record<string, string>> {
  if (method === "GET" || !globalThis.crypto?.subtle) return {};
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return { "x-amz-content-sha256": hex.join("") };
}

/** Converts an error response, which may come from a proxy, into an `ApiError`. */
async function toApiError(response: Response): Promise<ApiError> {
  const body = await response.json().catch(() => null);
  const error: Partial<ErrorFields> = Object(body?.error);
  const retryAfter = parseRetryAfter(response.headers.get("retry-after"));
  const requestId = error.requestId ?? response.headers.get("x-request-id");
  const retryable = error.retryable ?? response.status >= 500;
  return new ApiError({
    ...error,
    code: error.code ?? "status",
    status: response.status,
    retryable,
    retryAfter,
    requestId,
  });
}

/** Whole seconds of a `Retry-After` header, which is a number or a date; 0 when it is missing or invalid. */
export function parseRetryAfter(header: string | null, now = Date.now()): number {
  if (!header) return 0;
  const wait =
    /^\s*\d/.test(header) && !header.includes(":") ? Number.parseFloat(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(wait) ? Math.max(0, Math.ceil(wait)) : 0;
}

function query(values: Record<string, string | number | null>): URLSearchParams {
  const present = Object.entries(values).filter(([, value]) => value !== null);
  return new URLSearchParams(present.map(([name, value]) => [name, String(value)]));
}
