// The events of a turn from the bytes of a response, and the chunks of a response with a timeout for each.

import { signal } from "@preact/signals";

import { SseParser } from "./sse.ts";
import { ApiError, TIMEOUT_MS } from "./transport.ts";
import type { TurnEvent } from "./types.ts";

/** Receives each event of a turn and the id of its frame. */
export type OnEvent = (event: TurnEvent, id: string) => void;

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** The open streams of running turns by conversation. */
export const openStreams = signal<ReadonlyMap<string, Reader>>(new Map());

/** The pause before a lost stream is resumed, in milliseconds; the demo shows the loss meanwhile. */
export const pauseMs = signal(0);

/** The body of a response; a response without one cannot be read. */
export function bodyOf(response: Response): ReadableStream<Uint8Array> {
  if (!response.body) throw new ApiError({ code: "unreadable" });
  return response.body;
}

/** Reads events until one ends the turn, the stream ends, or a chunk times out. Resolves to whether the turn ended. */
export async function readEvents(
  reader: Reader,
  onEvent: OnEvent,
  signal?: AbortSignal,
  timeoutMs = TIMEOUT_MS,
  conversationId = "",
): Promise<boolean> {
  const decoder = new TextDecoder();
  const parser = new SseParser();
  if (conversationId) openStreams.value = new Map(openStreams.peek()).set(conversationId, reader);
  try {
    for (;;) {
      const chunk = await readChunk(reader, signal, timeoutMs);
      if (chunk === null) return false;
      for (const { id, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
        const event = parseEvent(data);
        if (event) onEvent(event, id);
        if (event?.type === "start") openStreams.value = new Map(openStreams.peek()).set(event.conversationId, reader);
        if (event?.type === "done" || event?.type === "error") return true;
      }
    }
  } finally {
    openStreams.value = new Map([...openStreams.peek()].filter(([, open]) => open !== reader));
    reader.cancel().catch(() => {});
  }
}

/** The next chunk, or null when the stream ends, breaks or times out. */
export async function readChunk(reader: Reader, signal: AbortSignal | undefined, timeoutMs: number): Promise<Uint8Array | null> {
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
