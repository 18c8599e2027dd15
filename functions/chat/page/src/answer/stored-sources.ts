// The sources of a stored answer by the call that found them. Pure.

import type { Message, Source } from "../api/types.ts";
import { resultCount } from "./strings.ts";

/**
 * The sources of each call by its id.
 *
 * A stored answer has its sources in the order in which calls found them. Calls of one round may have ended in any order:
 * of those, and of an answer that cites earlier ones, the sources stay unknown.
 */
export function sourcesByCall({ toolCalls = [], sources = [] }: Message): Map<string, Source[]> {
  const found = new Map<string, Source[]>();
  let [from, before, round] = [0, "", ""];
  for (const { id, name, arguments: args, summary, position } of toolCalls) {
    const read = name === "read_url" ? sources.findIndex(({ url }) => url === (args as { url?: unknown } | null)?.url) : -1;
    if (read >= 0) {
      found.set(id, sources.slice(read, read + 1));
      from = Math.max(from, read + 1);
      continue;
    }
    const count = resultCount(summary);
    if (!count) continue;
    const at = `${position?.text},${position?.thinking}`;
    const own = at === round ? [] : sources.slice(from, from + count);
    found.set(id, own);
    if (own.length === 0) found.set(before, own);
    [from, before, round] = [from + count, id, at];
  }
  return from === sources.length ? found : new Map<string, Source[]>();
}
