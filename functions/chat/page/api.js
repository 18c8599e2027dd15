// The server's HTTP routes: requests with the key, errors as one kind of object, a turn as a run of events.

import { SseParser } from "./sse.js";
import { forgetKey, key, newKey } from "./key.js";

const PATIENCE_MS = 30_000;

/** An erasure waits for running turns, and then deletes item by item; a function has at most fifteen minutes. */
const ERASURE_MS = 900_000;

/** A request that failed: `code` and `message` as the server gave them, or `network`, `offline`, `cut`, `unreadable`. */
export class ApiError extends Error {
  constructor({ code, message = "", status = 0, retryable = false, retryAfter = 0, requestId = null }) {
    super(message);
    Object.assign(this, { name: "ApiError", code, status, retryable, retryAfter, requestId });
  }
}

/** Asks for a page of the caller's conversations. */
export function listConversations(cursor = null) {
  return json("GET", `/api/conversations?${query({ limit: 30, cursor })}`);
}

/** Asks for a page of a conversation's messages, with the conversation itself. */
export function readConversation(id, cursor = null) {
  return json("GET", `/api/conversations/${encodeURIComponent(id)}?${query({ limit: 100, cursor })}`);
}

/** Gives a conversation another title. */
export function renameConversation(id, title) {
  return json("PATCH", `/api/conversations/${encodeURIComponent(id)}`, { title });
}

/** Deletes a conversation and everything in it. */
export function deleteConversation(id) {
  return json("DELETE", `/api/conversations/${encodeURIComponent(id)}`);
}

/** Asks which agents there are. */
export function listAgents() {
  return json("GET", "/api/agents");
}

/** Asks which models there are. */
export function listModels() {
  return json("GET", "/api/models");
}

/**
 * Reads everything that is kept of the caller: bytes of JSON lines, in pieces as they come.
 *
 * Where the connection breaks the pieces just end; whether they are all of it is for their last line to say.
 */
export async function* exportMe(signal) {
  const response = await authorized("/api/me/export", { method: "GET", signal });
  if (!response.ok) throw await failure(response);
  const reader = response.body.getReader();
  try {
    for (;;) {
      const piece = await nextPiece(reader, signal, PATIENCE_MS);
      if (piece === null) return;
      yield piece;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Erases everything that is kept of the caller; `confirm` says that this is meant. Resolves to how much was erased. */
export function eraseMe(confirm) {
  return json("DELETE", "/api/me", { confirm }, ERASURE_MS);
}

/** Asks the server to stop the turn that runs in a conversation. Resolves to whether there is one. */
export async function stopTurn(id) {
  return (await json("POST", `/api/conversations/${encodeURIComponent(id)}/stop`)).stopping;
}

/** Asks what the tools were called with for an answer; for administrators only. */
export async function listExecutions(messageId) {
  return (await json("GET", `/api/admin/executions?${query({ message: messageId })}`)).executions;
}

/**
 * Sends a message and hands every event of the answer to `onEvent`, each with the id of its frame.
 *
 * Resolves to whether the stream came to its end: a `done` or an `error` event. Throws an `ApiError` when the server
 * refused the message or could not be reached, and an `AbortError` when `signal` fired.
 */
export function chat(message, { idempotencyKey, signal, onEvent }) {
  return begin("/api/chat", message, { idempotencyKey, signal, onEvent });
}

/** Has the last message of a conversation answered again; as `chat`. */
export function regenerate(id, choice, { idempotencyKey, signal, onEvent }) {
  return begin(`/api/conversations/${encodeURIComponent(id)}/regenerate`, choice, { idempotencyKey, signal, onEvent });
}

/** Reads the running turn of a conversation, from the frame after `last` if that is given; null when there is nothing to read. */
export async function resume(id, last, { signal, onEvent }) {
  const headers = last === null ? {} : { "last-event-id": last };
  const response = await authorized(`/api/conversations/${encodeURIComponent(id)}/stream`, { method: "GET", headers, signal });
  if (response.status === 204) return null;
  if (!response.ok) throw await failure(response);
  return readEvents(response.body.getReader(), onEvent, signal);
}

async function begin(path, body, { idempotencyKey, signal, onEvent }) {
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  const response = await authorized(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  if (!response.ok) throw await failure(response);
  return readEvents(response.body.getReader(), onEvent, signal);
}

/** Reads events until one ends the turn, the stream ends or nothing comes for so long that the connection is dead. */
export async function readEvents(reader, onEvent, signal, patienceMs = PATIENCE_MS) {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  try {
    for (;;) {
      const piece = await nextPiece(reader, signal, patienceMs);
      if (piece === null) return false;
      for (const { id, data } of parser.push(decoder.decode(piece, { stream: true }))) {
        const event = parsed(data);
        if (event) onEvent(event, id);
        if (event?.type === "done" || event?.type === "error") return true;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The next bytes, or null when the stream ended, broke or fell silent. */
async function nextPiece(reader, signal, patienceMs) {
  try {
    const { done, value } = await impatient(reader.read(), patienceMs);
    return done ? null : value;
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** The event in a frame; the last frame, `[DONE]`, and anything that is not an object hold none. */
function parsed(data) {
  try {
    return Object(JSON.parse(data));
  } catch {
    return null;
  }
}

/** The server sends something every ten seconds; a connection that is silent for longer is gone. */
function impatient(read, patienceMs) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(reject, patienceMs);
  });
  return Promise.race([read, silence]).finally(() => clearTimeout(timer));
}

async function json(method, path, body, patienceMs = PATIENCE_MS) {
  const headers = body ? { "content-type": "application/json" } : {};
  const response = await authorized(path, { method, headers, body: body && JSON.stringify(body), patienceMs });
  if (!response.ok) throw await failure(response);
  return response.status === 204
    ? null
    : response.json().catch(() => Promise.reject(new ApiError({ code: "unreadable" })));
}

/** Sends a request with the key; as long as the server asks for a key and the user gives one, sends it again. */
async function authorized(path, options) {
  for (;;) {
    const used = key();
    const response = await attempt(path, options, used);
    if (response.status !== 401) return response;
    if (used !== null && key() === used) forgetKey();
    if (key() === null && !(await newKey(used !== null))) return response;
  }
}

/**
 * One request; without a signal of its own it is given up when no answer begins in time.
 *
 * The path is taken from where the page is, which may be below the stage of an API.
 */
async function attempt(path, { patienceMs = PATIENCE_MS, ...options }, used) {
  const headers = { ...options.headers, ...(used !== null && { "x-api-key": used }), ...(await digest(options)) };
  const signal = options.signal ?? AbortSignal.timeout(patienceMs);
  try {
    return await fetch(`.${path}`, { ...options, headers, signal, cache: "no-store" });
  } catch {
    options.signal?.throwIfAborted();
    throw new ApiError({ code: navigator.onLine === false ? "offline" : "network", retryable: true });
  }
}

/**
 * The header with a body's SHA-256, without which CloudFront cannot sign a request that changes something.
 *
 * Browsers compute it on pages that came over TLS or from the machine itself, and CloudFront serves no others.
 */
async function digest({ method, body = "" }) {
  if (method === "GET" || !globalThis.crypto?.subtle) return {};
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return { "x-amz-content-sha256": hex.join("") };
}

/** Reads an error answer, also one that some proxy wrote. */
async function failure(response) {
  const body = await response.json().catch(() => null);
  const error = Object(body?.error);
  const retryAfter = waitOf(response.headers.get("retry-after"));
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

/** Whole seconds of a `Retry-After` header, which is a number or a date; 0 when it says nothing. */
export function waitOf(header, now = Date.now()) {
  if (!header) return 0;
  const wait =
    /^\s*\d/.test(header) && !header.includes(":") ? Number.parseFloat(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(wait) ? Math.max(0, Math.ceil(wait)) : 0;
}

function query(values) {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null));
}
