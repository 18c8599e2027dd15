// The client of the HTTP API: requests with the key, failures as `ApiError`, turns as streams of events.

import { SseParser } from "./sse.js";
import { forgetKey, key, promptForKey } from "./key.js";

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
  constructor({ code, message = "", status = 0, retryable = false, retryAfter = 0, requestId = null }) {
    super(message);
    Object.assign(this, { name: "ApiError", code, status, retryable, retryAfter, requestId });
  }
}

/** Lists one page of the caller's conversations. */
export function listConversations(cursor = null) {
  return json("GET", `/api/conversations?${query({ limit: 30, cursor })}`);
}

/** Reads a conversation and one page of its messages. */
export function readConversation(id, cursor = null) {
  return json("GET", `/api/conversations/${encodeURIComponent(id)}?${query({ limit: 100, cursor })}`);
}

/** Changes the title of a conversation. */
export function renameConversation(id, title) {
  return json("PATCH", `/api/conversations/${encodeURIComponent(id)}`, { title });
}

/** Deletes a conversation and everything in it. */
export function deleteConversation(id) {
  return json("DELETE", `/api/conversations/${encodeURIComponent(id)}`);
}

/** Lists the agents. */
export function listAgents() {
  return json("GET", "/api/agents");
}

/** Lists the models. */
export function listModels() {
  return json("GET", "/api/models");
}

/**
 * Streams all stored data of the caller, as chunks of JSON lines.
 *
 * The chunks end without an error if the connection breaks; `ExportCheck` checks whether they are complete.
 */
export async function* exportAccount(signal) {
  const response = await fetchWithKey("/api/me/export", { method: "GET", signal });
  if (!response.ok) throw await toApiError(response);
  const reader = response.body.getReader();
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
export function eraseAccount(confirm) {
  return json("DELETE", "/api/me", { confirm }, ERASURE_TIMEOUT_MS);
}

/** Requests the server to stop the running turn of a conversation. Resolves to whether there is one. */
export async function stopTurn(id) {
  return (await json("POST", `/api/conversations/${encodeURIComponent(id)}/stop`)).stopping;
}

/** Lists the tool calls of an answer with their arguments; for administrators only. */
export async function listExecutions(messageId) {
  return (await json("GET", `/api/admin/executions?${query({ message: messageId })}`)).executions;
}

/**
 * Sends a message and calls `onEvent` with each event of the answer and the id of its frame.
 *
 * Resolves to whether the stream ended with a `done` or an `error` event. Throws an `ApiError` when the server rejects
 * the message or cannot be reached, and an `AbortError` when `signal` fires.
 */
export function chat(message, { idempotencyKey, signal, onEvent }) {
  return startTurn("/api/chat", message, { idempotencyKey, signal, onEvent });
}

/** Regenerates the last answer of a conversation; otherwise like `chat`. */
export function regenerate(id, choice, { idempotencyKey, signal, onEvent }) {
  const path = `/api/conversations/${encodeURIComponent(id)}/regenerate`;
  return startTurn(path, choice, { idempotencyKey, signal, onEvent });
}

/** Reads the running turn of a conversation after the frame `lastId`, or from its start; null if there is no stream. */
export async function resume(id, lastId, { signal, onEvent }) {
  const headers = lastId === null ? {} : { "last-event-id": lastId };
  const path = `/api/conversations/${encodeURIComponent(id)}/stream`;
  const response = await fetchWithKey(path, { method: "GET", headers, signal });
  if (response.status === 204) return null;
  if (!response.ok) throw await toApiError(response);
  return readEvents(response.body.getReader(), onEvent, signal);
}

async function startTurn(path, body, { idempotencyKey, signal, onEvent }) {
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  const response = await fetchWithKey(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  if (!response.ok) throw await toApiError(response);
  return readEvents(response.body.getReader(), onEvent, signal);
}

/** Reads events until one ends the turn, the stream ends, or a chunk times out. Resolves to whether the turn ended. */
export async function readEvents(reader, onEvent, signal, timeoutMs = TIMEOUT_MS) {
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
async function readChunk(reader, signal, timeoutMs) {
  try {
    const { done, value } = await withTimeout(reader.read(), timeoutMs);
    return done ? null : value;
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** The event in a frame; null for the last frame, `[DONE]`, and for invalid JSON. */
function parseEvent(data) {
  try {
    return Object(JSON.parse(data));
  } catch {
    return null;
  }
}

/** Rejects if `read` does not settle within the timeout. */
function withTimeout(read, timeoutMs) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(reject, timeoutMs);
  });
  return Promise.race([read, timeout]).finally(() => clearTimeout(timer));
}

async function json(method, path, body, timeoutMs = TIMEOUT_MS) {
  const headers = body ? { "content-type": "application/json" } : {};
  const response = await fetchWithKey(path, { method, headers, body: body && JSON.stringify(body), timeoutMs });
  if (!response.ok) throw await toApiError(response);
  return response.status === 204
    ? null
    : response.json().catch(() => Promise.reject(new ApiError({ code: "unreadable" })));
}

/** Sends a request with the key. On status 401 it prompts for a key and retries, until the user cancels. */
async function fetchWithKey(path, options) {
  for (;;) {
    const used = key();
    const response = await fetchOnce(path, options, used);
    if (response.status !== 401) return response;
    if (used !== null && key() === used) forgetKey();
    if (key() === null && !(await promptForKey(used !== null))) return response;
  }
}

/**
 * Sends one request; without a signal of its own it times out.
 *
 * The path is relative to the page, which may be below the stage of an API.
 */
async function fetchOnce(path, { timeoutMs = TIMEOUT_MS, ...options }, used) {
  const keyHeader = used === null ? {} : { "x-api-key": used };
  const headers = { ...options.headers, ...keyHeader, ...(await bodyHashHeader(options)) };
  const signal = options.signal ?? AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(`.${path}`, { ...options, headers, signal, cache: "no-store" });
  } catch {
    options.signal?.throwIfAborted();
    throw new ApiError({ code: navigator.onLine === false ? "offline" : "network", retryable: true });
  }
}

/**
 * The header with the SHA-256 of the body, without which CloudFront cannot sign a request that is not a GET.
 *
 * Browsers compute hashes only in secure contexts (TLS or localhost). CloudFront serves no others.
 */
async function bodyHashHeader({ method, body = "" }) {
  if (method === "GET" || !globalThis.crypto?.subtle) return {};
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return { "x-amz-content-sha256": hex.join("") };
}

/** Converts an error response, which may come from a proxy, into an `ApiError`. */
async function toApiError(response) {
  const body = await response.json().catch(() => null);
  const error = Object(body?.error);
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
export function parseRetryAfter(header, now = Date.now()) {
  if (!header) return 0;
  const wait =
    /^\s*\d/.test(header) && !header.includes(":") ? Number.parseFloat(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(wait) ? Math.max(0, Math.ceil(wait)) : 0;
}

function query(values) {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null));
}
