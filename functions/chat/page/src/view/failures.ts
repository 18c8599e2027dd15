// What a failure shows.

import { errorText, type ErrorInfo } from "../answer/strings.ts";

/** A failure as a sentence: of a request the server's own one if it names an invalid field, else a text of the page. */
export function failureText(thrown: unknown): string {
  const error: Partial<ErrorInfo> = Object(thrown);
  if (typeof error.code !== "string" || (error.code === "invalid_request" && error.message)) return String(error.message ?? thrown);
  return errorText(error as ErrorInfo);
}
