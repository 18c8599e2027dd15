// The page's texts for errors, finish reasons, tool calls, counts and times. Pure: data in, strings out.

const ERRORS = {
  network: "The server cannot be reached.",
  offline: "You are offline.",
  disconnected: "The connection to the server was lost.",
  unreadable: "The server sent an answer that this page cannot read.",
  unauthorized: "A valid key is needed.",
  not_found: "There is nothing here.",
  auth_not_configured: "This server has not been told who may use it. Whoever runs it must set AUTH to api_key or jwt.",
};

const FINISH_REASONS = {
  length: "The model reached its output limit, so this answer may be incomplete.",
  content_filter: "The provider’s content filter cut this answer short.",
  stopped: "This answer was stopped.",
  deadline: "Time ran out: this answer was made from what was there.",
  tool_limit: "The limit of tool rounds was reached: this answer was given without further tools.",
};

/** An error as one or two sentences; `waitSeconds` is the remaining wait of the server's `Retry-After`. */
export function errorText(error, waitSeconds = error.retryAfter) {
  const message = error.code === "auth_not_configured" ? null : error.message;
  const sentence = message || ERRORS[error.code] || `The server answered with status ${error.status}.`;
  if (waitSeconds > 0) return `${sentence} You can try again in ${waitText(waitSeconds)}.`;
  return error.retryAfter > 0 ? `${sentence} You can try again now.` : sentence;
}

/** The wait in seconds, or in hours above two hours; rounded up. */
function waitText(wait) {
  return wait > 7200 ? pluralize(Math.ceil(wait / 3600), "hour") : pluralize(wait, "second");
}

/** The explanation of an unusual finish reason; null for `stop`. */
export function finishReasonText(finishReason) {
  return FINISH_REASONS[finishReason] ?? null;
}

/** The models that replaced or continued the requested one; null when the requested model wrote the whole answer. */
export function attributionText(models, requested) {
  const others = models.filter((name, at) => name !== requested && models.indexOf(name) === at);
  if (others.length === 0) return null;
  return `${models.includes(requested) ? "Continued" : "Answered"} by ${others.join(", ")}`;
}

/** The labels of a tool call, as `[while it runs, afterwards, subject]`. */
export function callLabels({ name, arguments: args }) {
  const subject = callSubject(args);
  if (name === "search_web") return ["Searching", "Searched", subject];
  return [`Using ${name}`, `Used ${name}`, subject];
}

/** The argument that describes a call best: its `query`, else the first string or number. */
function callSubject(args) {
  if (args === null || typeof args !== "object") return "";
  const values = typeof args.query === "string" ? [args.query] : Object.values(args);
  const first = values.find((value) => ["string", "number"].includes(typeof value)) ?? "";
  return truncate(String(first), 200);
}

/** The outcome of a call, such as `10 results · 0.8 s · cached`. */
export function resultText({ ok, summary, durationMs, cached, error }) {
  const outcome = ok ? summary : error?.message || summary || "It did not work.";
  const time = durationMs === undefined ? null : durationText(durationMs);
  return [outcome, time, cached ? "cached" : null].filter(Boolean).join(" · ");
}

/** The outcome of a call for administrators, as `[outcome, time, bytes read by the model, credits]`. */
export function executionCells({ ok, error, cached, durationMs, bytes, credits }) {
  const outcome = ok ? (cached ? "cached" : "done") : (error ?? "failed").replaceAll("_", " ");
  const size = bytes < 1024 ? pluralize(bytes, "byte") : `${formatNumber(Math.round(bytes / 1024))} KiB`;
  return [outcome, durationText(durationMs), size, formatNumber(credits)];
}

/** The usage of a turn, such as `812 tokens in · 143 out · 2 search credits`. */
export function usageText({ inputTokens, outputTokens, searchCredits, estimated }) {
  const about = estimated ? "≈ " : "";
  const parts = [`${about}${formatNumber(inputTokens)} tokens in`, `${formatNumber(outputTokens)} out`];
  if (searchCredits > 0) parts.push(pluralize(searchCredits, "search credit"));
  return parts.join(" · ");
}

/** A size in bytes, such as `12 KB` or `3.4 MB`. */
export function sizeText(bytes) {
  if (bytes < 1000) return pluralize(bytes, "byte");
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${formatNumber(Math.round(bytes / 100_000) / 10)} MB`;
}

/** The result of an erasure, such as `12 conversations, 1 key and 40 other records`. */
export function erasureText({ conversations, keys, others }) {
  const parts = [pluralize(conversations, "conversation"), pluralize(keys, "key"), pluralize(others, "other record")];
  const erased = parts.filter((_, at) => [conversations, keys, others][at] > 0);
  if (erased.length === 0) return "There was nothing left to erase.";
  return `Gone for good: ${new Intl.ListFormat("en").format(erased)}.`;
}

/** A duration in seconds, with one decimal below 10 s. */
export function durationText(ms) {
  if (ms < 50) return "< 0.1 s";
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${formatNumber(Math.round(ms / 1000))} s`;
}

/** A count and its noun. */
export function pluralize(count, noun) {
  return `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A number with thousands separators. */
export function formatNumber(value) {
  return new Intl.NumberFormat("en").format(value);
}

/** At most `length` characters; an ellipsis marks a truncated text. */
export function truncate(text, length) {
  const chars = Array.from(text.slice(0, 2 * length + 2));
  return chars.length > length || text.length > 2 * length + 2 ? `${chars.slice(0, length).join("")}…` : text;
}

/** The number of Unicode scalar values of a text, which the server's limits count. */
export function scalarCount(text) {
  let count = 0;
  for (let at = 0; at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return count;
}

/** The group of a conversation in the list. */
export function ageGroup(then, now) {
  const day = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  const days = Math.round((day(now) - day(then)) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  return days < 8 ? "Last 7 days" : "Earlier";
}

/** The last line of a text that is not blank. */
export function lastLine(text) {
  return text.split(/[\r\n]+/).filter((line) => line.trim() !== "").pop()?.trim() ?? "";
}
