// The stored tool calls of an answer, for administrators: the arguments and the outcome, loaded on demand.

import { ApiError, listExecutions } from "../api/client.ts";
import type { Execution } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { el } from "../view/dom.ts";
import { errorText, executionCells } from "./strings.ts";

/** The tool calls of one answer, in a collapsed section. */
export class CallDetails {
  /** Whether this caller may read them; true until the server answers 403. */
  static available = true;
  element = el("details", { class: "call-details" }, el("summary", {}, t.details.title));
  #messageId: string;
  #body = el("div", { class: "call-details-body", tabindex: "0", role: "group", "aria-label": t.details.title });

  constructor(messageId: string) {
    this.#messageId = messageId;
    this.element.append(this.#body);
    this.element.addEventListener("toggle", () => {
      if (this.element.open) void this.#load();
    });
  }

  async #load(): Promise<void> {
    if (this.#body.querySelector("table")) return;
    this.#body.replaceChildren(t.loading);
    try {
      this.#body.replaceChildren(table(await listExecutions(this.#messageId)));
    } catch (thrown) {
      const error = ApiError.from(thrown);
      if (error.status === 403) CallDetails.available = false;
      const text = error.status === 403 ? t.details.forbidden : errorText(error);
      this.#body.replaceChildren(text);
    }
  }
}

function table(rows: Execution[]): HTMLElement {
  if (rows.length === 0) return el("p", {}, t.details.none);
  const head = el("tr", {}, ...t.details.columns.map((title) => el("th", { scope: "col" }, title)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows.map(row)));
}

function row(call: Execution): HTMLElement {
  const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 1);
  const cells = [call.tool, el("code", { dir: "auto" }, args), ...executionCells(call)];
  return el("tr", { class: call.ok ? null : "failed" }, ...cells.map((cell) => el("td", {}, cell)));
}
