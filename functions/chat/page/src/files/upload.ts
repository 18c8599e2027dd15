// Sends files to the server with progress, which only `XMLHttpRequest` reports.

import { ApiError, request } from "../api/client.ts";
import { freshCredential } from "../api/credential.ts";
import { bodyHashHeader, toApiError } from "../api/transport.ts";
import type { StoredFile, Upload } from "../api/types.ts";
import { rootUrl } from "../parts/load.ts";
import { texts } from "./texts.ts";

/** The largest file in one request, and the largest of all. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 25 * 1024 * 1024;

/** The server reads a file while it answers. */
const TIMEOUT_MS = 120_000;

interface UploadOptions {
  onShare: (share: number) => void;
  signal: AbortSignal;
}

/** Sends a file; throws what `failureText` shows, or if `signal` is aborted. */
export async function upload(file: File, options: UploadOptions): Promise<StoredFile> {
  if (file.size > MAX_BYTES) throw new Error(texts.tooLarge);
  const type = file.type || "application/octet-stream";
  if (file.size <= MAX_REQUEST_BYTES) {
    const body = await file.arrayBuffer().catch(() => Promise.reject(new Error(texts.unreadable)));
    const headers = { "content-type": type, ...(await bodyHashHeader(body)) };
    const url = new URL(`api/attachments?${new URLSearchParams({ name: file.name })}`, rootUrl());
    return JSON.parse((await send({ url, headers, body }, options)).responseText) as StoredFile;
  }
  const { id, url, fields } = await request<Upload>("POST", "/api/attachments/uploads", { name: file.name, type, bytes: file.size });
  try {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    body.append("file", file);
    await send({ url: new URL(url, rootUrl()), headers: {}, body }, options);
    const stored = await request<StoredFile>("POST", `/api/attachments/${id}/complete`, {}, TIMEOUT_MS);
    options.signal.throwIfAborted();
    return stored;
  } catch (error) {
    discard(id);
    throw error;
  }
}

/** Deletes a file that no message has; the server deletes what is left over by itself. */
export const discard = (id: string) => void request("DELETE", `/api/attachments/${id}`).catch(() => {});

interface Post {
  url: URL;
  headers: Record<string, string>;
  body: XMLHttpRequestBodyInit;
}

/** Sends a request, with the credential if it goes to the server itself. */
async function send(post: Post, options: UploadOptions): Promise<XMLHttpRequest> {
  const isOwn = post.url.host === location.host;
  // The server may not know that a proxy before it speaks TLS.
  if (isOwn) post.url.protocol = location.protocol;
  let answer = await attempt(post, isOwn ? await freshCredential(false) : null, options);
  if (answer.status === 401 && isOwn) {
    // Any other request renews the session, or prompts for a key.
    await request("GET", "/api/models");
    answer = await attempt(post, await freshCredential(false), options);
  }
  if (answer.status < 300) return answer;
  throw await toApiError(new Response(answer.responseText, { status: answer.status, headers: { "retry-after": answer.getResponseHeader("retry-after") ?? "" } }));
}

function attempt({ url, headers, body }: Post, key: string | null, { onShare, signal }: UploadOptions): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const xhr = new XMLHttpRequest();
    xhr.open("POST", url);
    for (const [name, value] of Object.entries({ ...headers, ...(key !== null && { "x-api-key": key }) })) xhr.setRequestHeader(name, value);
    xhr.upload.onprogress = ({ loaded, total }) => onShare(total > 0 ? loaded / total : 0);
    xhr.onload = () => resolve(xhr);
    xhr.onerror = () => reject(new ApiError({ code: navigator.onLine === false ? "offline" : "network", retryable: true }));
    xhr.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => xhr.abort());
    xhr.send(body);
  });
}
