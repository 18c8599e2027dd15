// What the page says about errors, ends, tools and times. Pure: data in, words out.

const ERRORS = {
  network: "The server cannot be reached.",
  offline: "You are offline.",
  cut: "The connection to the server was lost.",
  unreadable: "The server sent an answer that this page cannot read.",
  unauthorized: "A valid key is needed.",
  not_found: "There is nothing here.",
  auth_not_configured: "This server has not been told who may use it. Whoever runs it must set AUTH to api_key or jwt.",
};

const ENDS = {
  length: "The model reached its output limit, so this answer may be incomplete.",
  content_filter: "The provider’s content filter cut this answer short.",
  stopped: "This answer was stopped.",
  deadline: "Time ran out: this answer was made from what was there.",
  tool_limit: "The limit of tool rounds was reached: this answer was given without further tools.",
};

/** An error in a sentence or two; `waitSeconds` is what is left of the wait that the server asked for. */
export function errorWords(error, waitSeconds = error.retryAfter) {
  const known = error.code === "auth_not_configured" ? null : error.message;
  const sentence = known || ERRORS[error.code] || `The server answered with status ${error.status}.`;
  if (waitSeconds > 0) return `${sentence} You can try again in ${waitWords(waitSeconds)}.`;
  return error.retryAfter > 0 ? `${sentence} You can try again now.` : sentence;
}

/** Seconds, or hours when there are many of them; never less than the wait. */
function waitWords(wait) {
  return wait > 7200 ? plural(Math.ceil(wait / 3600), "hour") : plural(wait, "second");
}

/** What is special about the way an answer ended, or null for an ordinary end. */
export function endWords(finishReason) {
  return ENDS[finishReason] ?? null;
}

/** Who wrote an answer in the place of the model that was asked, or after it; null when that one wrote it alone. */
export function writerWords(writers, asked) {
  const others = writers.filter((name, at) => name !== asked && writers.indexOf(name) === at);
  if (others.length === 0) return null;
  return `${writers.includes(asked) ? "Continued" : "Answered"} by ${others.join(", ")}`;
}

/** What a tool call is about, as `[while it runs, afterwards, its object]`. */
export function callWords({ name, arguments: args }) {
  const object = callObject(args);
  if (name === "search_web") return ["Searching", "Searched", object];
  return [`Using ${name}`, `Used ${name}`, object];
}

/** The first thing worth showing of a call's arguments: its query, else the first short text or number in it. */
function callObject(args) {
  if (args === null || typeof args !== "object") return "";
  const values = typeof args.query === "string" ? [args.query] : Object.values(args);
  const first = values.find((value) => ["string", "number"].includes(typeof value)) ?? "";
  return shortened(String(first), 200);
}

/** How a call went, such as `10 results · 0.8 s · cached`. */
export function resultWords({ ok, summary, durationMs, cached, error }) {
  const said = ok ? summary : error?.message || summary || "It did not work.";
  const time = durationMs === undefined ? null : seconds(durationMs);
  return [said, time, cached ? "cached" : null].filter(Boolean).join(" · ");
}

/** How a call went, as `[outcome, time, what the model read of it, credits]`. */
export function callNumbers({ ok, error, cached, durationMs, bytes, credits }) {
  const outcome = ok ? (cached ? "cached" : "done") : (error ?? "failed").replaceAll("_", " ");
  const size = bytes < 1024 ? plural(bytes, "byte") : `${number(Math.round(bytes / 1024))} KiB`;
  return [outcome, seconds(durationMs), size, number(credits)];
}

/** What a turn consumed, such as `812 tokens in · 143 out · 2 search credits`. */
export function usageWords({ inputTokens, outputTokens, searchCredits, estimated }) {
  const about = estimated ? "≈ " : "";
  const parts = [`${about}${number(inputTokens)} tokens in`, `${number(outputTokens)} out`];
  if (searchCredits > 0) parts.push(plural(searchCredits, "search credit"));
  return parts.join(" · ");
}

/** A number of bytes, such as `12 KB` or `3.4 MB`. */
export function sizeWords(bytes) {
  if (bytes < 1000) return plural(bytes, "byte");
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} KB` : `${number(Math.round(bytes / 100_000) / 10)} MB`;
}

/** What an erasure found, such as `12 conversations, 1 key and 40 other records`. */
export function erasedWords({ conversations, keys, others }) {
  const parts = [plural(conversations, "conversation"), plural(keys, "key"), plural(others, "other record")];
  const found = parts.filter((_, at) => [conversations, keys, others][at] > 0);
  if (found.length === 0) return "There was nothing left to erase.";
  return `Gone for good: ${new Intl.ListFormat("en").format(found)}.`;
}

/** A duration in seconds with one decimal below ten. */
export function seconds(ms) {
  if (ms < 50) return "< 0.1 s";
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${number(Math.round(ms / 1000))} s`;
}

/** A count and its noun. */
export function plural(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** A count with thousands apart. */
export function number(value) {
  return new Intl.NumberFormat("en").format(value);
}

/** At most `length` characters, with an ellipsis when something was cut. */
export function shortened(text, length) {
  const chars = Array.from(text.slice(0, 2 * length + 2));
  return chars.length > length || text.length > 2 * length + 2 ? `${chars.slice(0, length).join("")}…` : text;
}

/** How many Unicode scalar values a text has: what the server counts. */
export function scalarCount(text) {
  let count = 0;
  for (let at = 0; at < text.length; count += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return count;
}

/** The group under which a conversation stands in the list. */
export function ageWords(then, now) {
  const day = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  const days = Math.round((day(now) - day(then)) / 86_400_000);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  return days < 8 ? "Last 7 days" : "Earlier";
}

/** The last line of a text that says something. */
export function lastLine(text) {
  return text.split(/[\r\n]+/).filter((line) => line.trim() !== "").pop()?.trim() ?? "";
}
