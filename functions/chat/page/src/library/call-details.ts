// The stored tool calls of an answer, for administrators: the arguments and the outcome, loaded on demand.

import { request } from "../api/client.ts";
import { onKeyChange } from "../api/key.ts";
import type { Execution } from "../api/types.ts";
import { durationText, formatNumber, t } from "../i18n/index.ts";
import { readAccount } from "../settings/account.ts";
import { el } from "../view/dom.ts";
import { failureText } from "../view/failures.ts";
import { texts } from "./texts.ts";

/** Whether the caller is an administrator, once it is known. */
let administrator: boolean | null = null;

onKeyChange(() => {
  administrator = null;
});

/** Adds the tool calls of an answer to its figures, in a collapsed section, if the caller is an administrator. */
export async function showCallDetails(panel: HTMLElement, messageId: string): Promise<void> {
  administrator ??= await readAccount().then(({ admin }) => admin, () => null);
  if (!administrator) return;
  const body = el("div", { class: "call-details-body", tabindex: "0", role: "group", "aria-label": texts.details.title });
  const details = el("details", { class: "call-details fold" }, el("summary", {}, texts.details.title), body);
  const load = async () => {
    body.replaceChildren(t.loading);
    const path = `/api/admin/executions?${new URLSearchParams({ message: messageId })}`;
    body.replaceChildren(await request<{ executions: Execution[] }>("GET", path).then(({ executions }) => table(executions), failureText));
  };
  details.addEventListener("toggle", () => {
    if (details.open && !body.querySelector("table")) void load();
  });
  panel.append(details);
}

function table(rows: Execution[]): HTMLElement {
  if (rows.length === 0) return el("p", {}, texts.details.none);
  const head = el("tr", {}, ...texts.details.columns.map((title) => el("th", { scope: "col" }, title)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows.map(row)));
}

function row(call: Execution): HTMLElement {
  const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 1);
  const cells = [call.tool, el("code", { dir: "auto" }, args), ...executionCells(call)];
  return el("tr", { class: call.ok ? null : "failed" }, ...cells.map((cell) => el("td", {}, cell)));
}

/** The outcome of a call, as `[outcome, time, bytes read by the model, credits]`. */
export function executionCells({ ok, error, cached, durationMs, bytes, credits }: Omit<Execution, "tool" | "arguments">): string[] {
  const outcome = ok ? (cached ? t.answer.cached : texts.details.done) : (error ?? texts.details.failed).replaceAll("_", " ");
  const size = bytes < 1024 ? t.found.bytes(bytes) : `${formatNumber(Math.round(bytes / 1024))} KiB`;
  return [outcome, durationText(durationMs), size, formatNumber(credits)];
}
