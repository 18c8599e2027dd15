// The page's texts: errors with their waits, results, counts, ages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dateLocale, languages, textsFor } from "../../../functions/chat/page/src/i18n/index.ts";
import { date, list, unit } from "../../../functions/chat/page/src/i18n/format.ts";
import { erasureText } from "../../../functions/chat/page/src/settings/own-data.ts";
import { executionCells } from "../../../functions/chat/page/src/library/call-details.ts";
import { parseRetryAfter } from "../../../functions/chat/page/src/api/client.ts";
import {
  ageGroup,
  callLabels,
  finishReasonText,
  errorText,
  lastLine,
  outcomeText,
  scalarCount,
  durationText,
  timeText,
  truncate,
  sizeText,
  usageText,
  attributionText,
} from "../../../functions/chat/page/src/answer/strings.ts";

test("an error is named by its code, with its wait", () => {
  const busy = { code: "turn_in_progress", message: "Busy.", retryAfter: 12 };
  const text = "An answer is already being written in this conversation.";
  assert.equal(errorText(busy), `${text} You can try again in 12 seconds.`);
  assert.equal(errorText(busy, 1), `${text} You can try again in 1 second.`);
  assert.equal(errorText(busy, 0), `${text} You can try again now.`);
});

test("a long wait is shown in minutes or hours", () => {
  const spent = { code: "quota_exhausted", message: "It ends at 2026-11-23T00:00:00Z.", retryAfter: 43_201 };
  assert.equal(errorText(spent), "The budget is used up. You can try again in 13 hours.");
  assert.equal(errorText(spent, 7200), "The budget is used up. You can try again in 120 minutes.");
});

test("an error with an unknown code shows its message", () => {
  assert.equal(errorText({ code: "network", message: "", retryAfter: 0 }), "The server can’t be reached.");
  assert.equal(errorText({ code: "constructor", message: "New.", retryAfter: 0 }), "New.");
  assert.equal(
    errorText({ code: "status", message: "", status: 418, retryAfter: 0 }),
    "The server responded with status 418.",
  );
});

test("f147_ missing authentication settings are explained", () => {
  const text = errorText({
    code: "auth_not_configured",
    message: "Authentication is not configured.",
    retryAfter: 0,
  });
  assert.equal(text, "This server isn’t set up yet. Its operator must set AUTH to api_key or jwt.");
});

test("f032_ f033_ only unusual finish reasons have a text", () => {
  assert.equal(finishReasonText("stop"), null);
  assert.match(finishReasonText("length"), /output limit/);
  assert.match(finishReasonText("content_filter"), /content filter/);
  assert.match(finishReasonText("deadline"), /Time ran out/);
  assert.match(finishReasonText("tool_limit"), /without further searches/);
  assert.match(finishReasonText("stopped"), /stopped/);
});

test("another model of the answer is named", () => {
  assert.equal(attributionText([], "first"), null);
  assert.equal(attributionText(["backup"], "first"), "Answered by backup");
  assert.equal(attributionText(["first", "backup"], "first"), "Continued by backup");
  assert.equal(attributionText(["first", "backup", "third"], "first"), "Continued by backup and third");
});

test("a call's labels name its subject", () => {
  assert.deepEqual(callLabels({ name: "search_web", arguments: { depth: "deep", query: "天气" } }), [
    "Searching",
    "Searched",
    "天气",
  ]);
  assert.deepEqual(callLabels({ name: "calculator", arguments: { expression: "1 + 2" } }), [
    "Calculating",
    "Calculated",
    "1 + 2",
  ]);
  const url = "https://www.a.example/long/path";
  assert.deepEqual(callLabels({ name: "read_url", arguments: { url } }), ["Reading", "Read", "a.example"]);
  assert.deepEqual(callLabels({ name: "now", arguments: {} }), ["Using now", "Used now", ""]);
  assert.deepEqual(callLabels({ name: "odd", arguments: null }), ["Using odd", "Used odd", ""]);
});

test("a pattern is shown as its terms", () => {
  const subject = (pattern) => callLabels({ name: "grep_search", arguments: { pattern } })[2];
  assert.equal(subject("(?i)rent|lease"), "rent · lease");
  assert.equal(subject("^a\\.md|\\bdata\\s+kept.*where\\b|C\\|D$"), "a.md · data kept…where · C|D");
  for (const other of ["f(a|b)", "[ab]|c", "\\d+", "\\(x\\)|y{2}"]) assert.equal(subject(other), other);
});

test("a result shows outcome, time and cache hit", () => {
  assert.equal(outcomeText({ ok: true, summary: "10 results" }), "10 results");
  assert.equal(outcomeText({ ok: true, summary: "4 of 10 results" }), "4 results");
  assert.equal(outcomeText({ ok: true, summary: "no results" }), "0 results");
  assert.equal(outcomeText({ ok: true, summary: "1 result" }), "1 result");
  assert.equal(outcomeText({ ok: true, summary: "10 matches in 1 files" }), "10 matches · 1 file");
  assert.equal(outcomeText({ ok: true, summary: "1 entries" }), "1 entry");
  assert.equal(outcomeText({ ok: true, summary: "9 of 20 lines of notes/a.md" }), "9 lines");
  assert.equal(outcomeText({ ok: true, summary: "no articles" }), "0 articles");
  assert.equal(outcomeText({ ok: true, summary: "3 wishes" }), "3 wishes");
  assert.equal(outcomeText({ ok: true, summary: "= 42" }), "= 42");
  const error = { code: "timeout", message: "The search took too long." };
  assert.equal(outcomeText({ ok: false, summary: "failed", error }), "It took too long.");
  assert.equal(outcomeText({ ok: false }), "The tool failed.");
  assert.equal(timeText({ durationMs: 812, cached: false }), "0.8s");
  assert.equal(timeText({ durationMs: 4, cached: true }), "< 0.1s · cached");
  assert.equal(timeText({}), "");
});

test("call details show outcome, time, size and credits", () => {
  const call = { ok: true, cached: false, durationMs: 812, bytes: 900, credits: 2 };
  assert.deepEqual(executionCells(call), ["done", "0.8s", "900 bytes", "2"]);
  assert.deepEqual(executionCells({ ...call, cached: true, bytes: 5000, credits: 0 }), ["cached", "0.8s", "5 KiB", "0"]);
  assert.deepEqual(executionCells({ ...call, ok: false, error: "rate_limited", bytes: 1 })[0], "rate limited");
});

test("usage is one line", () => {
  assert.equal(
    usageText({ inputTokens: 1812, outputTokens: 143, searchCredits: 2, estimated: false }),
    "1,812 tokens in · 143 out · 2 search credits",
  );
  assert.equal(
    usageText({ inputTokens: 8, outputTokens: 1, searchCredits: 0, estimated: true }),
    "≈ 8 tokens in · 1 out",
  );
});

test("durations are rounded to readable seconds", () => {
  assert.deepEqual([0, 49, 50, 812, 9949, 9950, 61_400].map(durationText), [
    "< 0.1s",
    "< 0.1s",
    "0.1s",
    "0.8s",
    "9.9s",
    "10s",
    "61s",
  ]);
});

test("characters are counted as Unicode scalar values", () => {
  assert.equal(scalarCount("a好🌦️"), 4);
  assert.equal(scalarCount("🌦".repeat(32_000)), 32_000);
  assert.equal(scalarCount("\uD83C"), 1);
});

test("a long text is truncated between characters", () => {
  assert.equal(truncate("🌦🌦🌦", 2), "🌦🌦…");
  assert.equal(truncate("ab", 2), "ab");
});

test("progress text shows its last line", () => {
  assert.equal(lastLine("one\ntwo\r\n\n"), "two");
  assert.equal(lastLine("one\n tw"), "tw");
  assert.equal(lastLine(" \n"), "");
});

test("conversations are grouped by age", () => {
  const now = new Date(2026, 2, 15, 0, 30);
  const ages = [
    [15, 0],
    [14, 23],
    [13, 12],
    [8, 1],
    [7, 23],
  ].map(([day, hour]) => ageGroup(new Date(2026, 2, day, hour), now));
  assert.deepEqual(ages, ["Today", "Yesterday", "Last 7 days", "Last 7 days", "Earlier"]);
});

test("Retry-After accepts seconds and dates", () => {
  const now = Date.parse("2026-03-15T12:00:00Z");
  const waits = ["12", "1.2", "Sun, 15 Mar 2026 12:00:30 GMT", "Sun, 15 Mar 2026 11:00:00 GMT", "-3", "soon", null];
  assert.deepEqual(
    waits.map((header) => parseRetryAfter(header, now)),
    [12, 2, 30, 0, 0, 0, 0],
  );
});

test("sizes and erasure results are formatted", () => {
  const sizes = [1, 999, 1000, 12_345, 999_999, 3_449_999, 1_234_567_890].map(sizeText);
  assert.deepEqual(sizes, ["1 byte", "999 bytes", "1 kB", "12 kB", "1,000 kB", "3.4 MB", "1,234.6 MB"]);
  assert.equal(
    erasureText({ conversations: 1200, keys: 1, others: 40 }),
    "Deleted: 1,200 conversations, 1 key, and 40 other records.",
  );
  assert.equal(erasureText({ conversations: 0, keys: 0, others: 1 }), "Deleted: 1 other record.");
  assert.equal(erasureText({ conversations: 0, keys: 0, others: 0 }), "There was nothing left to erase.");
});

test("every language has every text", () => {
  const keys = (value, path = "") =>
    value === null || typeof value !== "object"
      ? [path]
      : Object.entries(value).flatMap(([name, inner]) => keys(inner, `${path}.${name}`));
  const [first, ...others] = languages.map((table) => keys(table).filter((path) => !path.includes("demo.rows")));
  for (const other of others) assert.deepEqual(other, first);
});

test("dates follow the browser's conventions in the page's language", () => {
  assert.equal(dateLocale({ locale: "en" }, ["fr", "en-GB", "en-US"]), "en-GB");
  assert.equal(dateLocale({ locale: "zh-CN" }, ["en-GB", "zh-TW"]), "zh-CN");
  assert.equal(dateLocale({ locale: "zh-CN" }, ["zh-TW", "zh-SG"]), "zh-SG");
  assert.equal(date(dateLocale({ locale: "en" }, ["en-GB"]), { dateStyle: "medium" }, "2026-03-17T09:05:00"), "17 Mar 2026");
});

test("Chinese texts are made of data too", () => {
  const zh = textsFor(["zh-Hans-SG", "en"]);
  assert.equal(zh.locale, "zh-CN");
  assert.equal(textsFor(["fr", "de"]).locale, "en");
  assert.equal(textsFor(["fr", "zh-TW"]).locale, "zh-CN");
  assert.equal(zh.retryIn(zh.errors.rate_limited, 90), "请求过于频繁。90 秒后可以重试。");
  assert.deepEqual([unit("zh-CN", 1.5, "second", 1), unit("zh-CN", 12, "kilobyte")], ["1.5 秒", "12 kB"]);
  assert.equal(zh.answer.usage("1,812", "143", 2), "输入 1,812 Token · 输出 143 · 搜索用量 2");
  assert.equal(list("zh-CN", ["12 个对话", "1 个密钥", "backup"]), "12 个对话、1 个密钥、backup");
  assert.match(date("zh-CN", { weekday: "short", hour: "2-digit", minute: "2-digit" }, new Date(2026, 2, 17, 9, 5)), /^周二 0?9:05$/);
});
