// The wait that an error names, counted down.

import type { ApiError } from "../api/client.ts";
import { errorText } from "./strings.ts";

/**
 * Calls `show` with the text of an error and the seconds that are left: at once, and each second until none are left or
 * `show` returns false. Returns what ends it.
 */
export function countDown(error: ApiError, show: (text: string, left: number) => boolean): () => void {
  const until = Date.now() + error.retryAfter * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    return show(errorText(error, left), left) && left > 0;
  };
  const stop = () => clearInterval(timer);
  const timer = setInterval(() => {
    if (!tick()) stop();
  }, 1000);
  // The element may not be in the document yet.
  tick();
  return stop;
}
