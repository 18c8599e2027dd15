// Requests for all data of the caller: its export and its erasure.

import { bodyOf, readChunk } from "../api/events.ts";
import { fetchWithKey, request, TIMEOUT_MS, toApiError } from "../api/transport.ts";
import type { Erasure } from "../api/types.ts";
import { formatList } from "../i18n/index.ts";
import { texts } from "./texts.ts";

/** An erasure waits for running turns and then deletes item by item; a function runs for at most 15 minutes. */
const ERASURE_TIMEOUT_MS = 900_000;

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

/** The result of an erasure, such as `12 conversations, 1 key and 40 other records`. */
export function erasureText({ conversations, keys, others }: Erasure): string {
  const counts: [number, (value: number) => string][] = [
    [conversations, texts.data.conversations],
    [keys, texts.data.keys],
    [others, texts.data.records],
  ];
  const erased = counts.filter(([value]) => value > 0).map(([value, text]) => text(value));
  return erased.length === 0 ? texts.data.nothingErased : texts.data.erased(formatList(erased));
}
