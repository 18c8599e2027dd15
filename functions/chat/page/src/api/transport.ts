// Requests with the credential, and failures as `ApiError`.

import { credential, freshCredential, promptForCredential, readAuthentication, rejectCredential } from "./credential.ts";
import { renewSession } from "./session.ts";
import type { ErrorEvent } from "./types.ts";

/** The timeout of a response, and of each chunk of a stream. The server sends a keep-alive every ten seconds. */
export const TIMEOUT_MS = 30_000;

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

interface RequestOptions {
  method: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  timeoutMs?: number;
  mayLeave?: boolean;
}

/** The delay before the server is tried again after a request that could not reach it; each failure doubles it. */
const FIRST_DELAY_MS = 5000;

/** The longest delay, after which only the user or the browser tries again. */
const MAX_DELAY_MS = 320_000;

/** The time of the last request that could not reach the server; 0 once a later request has succeeded. */
let failedAt = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
const reachableListeners = new Set<() => void>();

/** Calls `listener` when a request that began after one that could not reach the server succeeds. */
export function onReachable(listener: () => void): void {
  reachableListeners.add(listener);
}

/** Tries the server after a delay, and ever more rarely, if it could not be reached. */
export function tryAgain(delayMs = 0): void {
  clearTimeout(timer);
  if (failedAt === 0 || delayMs > MAX_DELAY_MS) return;
  timer = setTimeout(() => void fetchOnce("/healthz", { method: "GET" }, null, delayMs * 2 || FIRST_DELAY_MS).catch(() => {}), delayMs);
}

function notifyReachable(): void {
  failedAt = 0;
  for (const listener of reachableListeners) listener();
}

/** Sends a request with the key and reads the JSON of its response; null without content. */
export async function request<T>(
  method: string,
  path: string,
  body?: object,
  timeoutMs = TIMEOUT_MS,
  more: Record<string, string> = {},
): Promise<T> {
  const headers: Record<string, string> = body ? { "content-type": "application/json", ...more } : more;
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
export async function fetchWithKey(path: string, { mayLeave = false, ...options }: RequestOptions): Promise<Response> {
  for (let renewed = false; ; ) {
    const used = await freshCredential(mayLeave);
    const response = await fetchOnce(path, options, used);
    if (response.status !== 401) return response;
    if (used !== null && !renewed) {
      renewed = true;
      if (await renewSession(used, mayLeave)) continue;
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
  nextDelayMs = FIRST_DELAY_MS,
): Promise<Response> {
  const keyHeader: Record<string, string> = used === null ? {} : { "x-api-key": used };
  const hashHeader = options.method === "GET" ? {} : await bodyHashHeader(new TextEncoder().encode(options.body));
  const headers = { ...options.headers, ...keyHeader, ...hashHeader };
  const signal = options.signal ?? AbortSignal.timeout(timeoutMs);
  const startedAt = performance.now();
  try {
    const response = await fetch(`.${path}`, { ...options, headers, signal, cache: "no-store" });
    if (failedAt !== 0 && failedAt < startedAt) notifyReachable();
    return response;
  } catch {
    options.signal?.throwIfAborted();
    failedAt = performance.now();
    tryAgain(nextDelayMs);
    throw new ApiError({ code: navigator.onLine === false ? "offline" : "network", retryable: true });
  }
}

/**
 * The header with the SHA-256 of the body, without which CloudFront cannot sign a request that is not a GET.
 *
 * Browsers compute hashes only in secure contexts (TLS or localhost). CloudFront serves no others.
 */
export async function bodyHashHeader(body: BufferSource): Promise<Record<string, string>> {
  if (!globalThis.crypto?.subtle) return {};
  const hash = await crypto.subtle.digest("SHA-256", body);
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return { "x-amz-content-sha256": hex.join("") };
}

/** Converts an error response, which may come from a proxy, into an `ApiError`. */
export async function toApiError(response: Response): Promise<ApiError> {
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
