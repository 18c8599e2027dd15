// Requests for all data of the caller: its export and its erasure.

import { bodyOf, readChunk } from "../api/events.ts";
import { fetchWithKey, request, TIMEOUT_MS, toApiError } from "../api/transport.ts";
import type { Erasure } from "../api/types.ts";

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
