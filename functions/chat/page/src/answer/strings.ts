// Texts that are made from data: errors, finish reasons, tool calls, counts and times. Pure: data in, strings out.

import type { ToolCall, ToolResult, Usage } from "../api/types.ts";
import { costText, durationText, formatList, formatNumber, t } from "../i18n/index.ts";

export { durationText, formatNumber, sizeText } from "../i18n/index.ts";

/** What `errorText` reads of an error. */
export interface ErrorInfo {
  code: string;
  message: string;
  status: number;
  retryAfter: number;
}

/** The text of a key in a table whose keys the data names; undefined for an unknown key. */
function lookUp<Text>(table: Record<string, Text>, key: string): Text | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** An error as one or two sentences; `waitSeconds` is the remaining wait of the server's `Retry-After`. */
export function errorText(error: ErrorInfo, waitSeconds = error.retryAfter): string {
  const sentence = lookUp(t.errors, error.code) ?? (error.message || t.errorStatus(error.status));
  if (waitSeconds > 0) return t.retryIn(sentence, waitSeconds);
  return error.retryAfter > 0 ? t.retryNow(sentence) : sentence;
}

/** The explanation of an unusual finish reason; null for `stop`. */
export function finishReasonText(finishReason: string | undefined): string | null {
  return lookUp(t.finish, finishReason ?? "") ?? null;
}

/** The models that replaced or continued the requested one; null when the requested model wrote the whole answer. */
export function attributionText(models: string[], requested: string): string | null {
  const others = models.filter((name, at) => name !== requested && models.indexOf(name) === at);
  if (others.length === 0) return null;
  const names = formatList(others);
  return models.includes(requested) ? t.answer.continuedBy(names) : t.answer.answeredBy(names);
}

/** The labels of a tool call, as `[while it runs, afterwards, subject]`. */
export function callLabels({ name, arguments: args }: ToolCall): [string, string, string] {
  const [doing, done] = lookUp<[string, string]>(t.tools, name) ?? t.otherTool(name);
  return [doing, done, callSubject(name, args)];
}

/** The argument that describes a call best: its `query`, else the first string or number; a pattern as its terms. */
function callSubject(name: string, args: unknown): string {
  if (args === null || typeof args !== "object") return "";
  const values: unknown[] = "query" in args && typeof args.query === "string" ? [args.query] : Object.values(args);
  const first = String(values.find((value) => ["string", "number"].includes(typeof value)) ?? "");
  const subject = name === "read_url" ? hostOf(first) : name === "grep_search" ? patternText(first) : first;
  return truncate(subject, 200);
}

/** The alternatives of a regular expression without groups, such as `rent · lease`; else the expression. */
function patternText(pattern: string): string {
  const plain = pattern.replace(/^\(\?\w+\)/, "");
  if (/[([{]/.test(plain.replace(/\\./g, ""))) return pattern;
  const terms = plain.split(/(?<!\\)\|/).map((term) => term.replace(/^\^|\\b|\$$/g, "").replace(/\\s[*+?]?/g, " ").replace(/\.[*+]\??/g, "…"));
  return terms.join(" · ").replace(/\\(\W)/g, "$1");
}

/** The host of a URL without `www.`, or the text if it is no URL; the page or the line of a file. */
export function hostOf(url: string): string {
  const [, unit, first, last = first] = /^attachment:.*?(?:#(page|line)=(\d+)(?:-(\d+))?)?$/.exec(url) ?? [];
  if (unit) return (unit === "page" ? t.passage.pages : t.passage.lines)(Number(first), Number(last));
  return URL.canParse?.(url) ? new URL(url).hostname.replace(/^www\./, "") : url;
}

/** The outcome of a call in short, such as `10 results`; the reason if it failed. */
export function outcomeText({ ok, summary, error, sources }: Pick<ToolResult, "ok" | "summary" | "error" | "sources">): string {
  if (!ok) return (error && lookUp(t.errors, error.code)) || error?.message || summary || t.answer.failed;
  const [count, noun, files] = countOf(summary);
  const counted = lookUp(t.found, noun)?.(count);
  if (counted) return files ? `${counted} · ${t.found.files(files)}` : counted;
  return summary || (sources?.length ? t.found.results(sources.length) : "");
}

/** What a summary of the server counts, such as `4 of 10 results`, `7 matches in 2 files` or `9 of 20 lines of a.md`. */
function countOf(summary = ""): [count: number, noun: string, files: number] {
  const [, count = "", noun = "", files] = /^(no|\d+)(?: of \d+)? ([a-z]+?)s?(?: in (\d+) files| of .+)?$/.exec(summary) ?? [];
  return [Number(count) || 0, `${noun}s`, Number(files) || 0];
}

/** The number of results that a summary counts; null for another summary. */
export function resultCount(summary: string | undefined): number | null {
  const [count, noun] = countOf(summary);
  return noun === "results" ? count : null;
}

/** The time of a call, such as `0.8 s · cached`. */
export function timeText({ durationMs, cached }: Pick<ToolResult, "durationMs" | "cached">): string {
  const time = durationMs === undefined ? "" : durationText(durationMs);
  return [time, cached ? t.answer.cached : ""].filter(Boolean).join(" · ");
}

/** The usage of a turn, such as `812 tokens in · 143 out · 2 search credits · cost 0.0016`; the cost if the model has a price. */
export function usageText({ inputTokens, outputTokens, searchCredits, estimated, costMicros }: Usage): string {
  const about = estimated ? "≈ " : "";
  const usage = t.answer.usage(`${about}${formatNumber(inputTokens)}`, formatNumber(outputTokens), searchCredits);
  return costMicros === undefined ? usage : `${usage} · ${t.answer.cost(costText(costMicros))}`;
}

/** At most `length` characters; an ellipsis marks a truncated text. */
export function truncate(text: string, length: number): string {
  const chars = Array.from(text.slice(0, 2 * length + 2));
  return chars.length > length || text.length > 2 * length + 2 ? `${chars.slice(0, length).join("")}…` : text;
}

/** The number of Unicode scalar values of a text, which the server's limits count. */
export function scalarCount(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** The group of a conversation in the list. */
export function ageGroup(then: Date, now: Date): string {
  const day = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((day(now) - day(then)) / 86_400_000);
  if (days <= 0) return t.list.today;
  if (days === 1) return t.list.yesterday;
  return days < 8 ? t.list.lastWeek : t.list.earlier;
}

/** The last line of a text that is not blank. */
export function lastLine(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return lines.at(-1)?.trim() ?? "";
}
