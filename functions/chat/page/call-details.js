// The stored tool calls of an answer, for administrators: the arguments and the outcome, loaded on demand.

import { listExecutions } from "./api.js";
import { el } from "./dom.js";
import { errorText, executionCells } from "./strings.js";

/** The tool calls of one answer, in a collapsed section. */
export class CallDetails {
  /** Whether this caller may read them; true until the server answers 403. */
  static available = true;
  element = el("details", { class: "call-details" }, el("summary", {}, "Details"));
  #messageId;
  #body = el("div", { class: "call-details-body" });

  constructor(messageId) {
    this.#messageId = messageId;
    this.element.append(this.#body);
    this.element.addEventListener("toggle", () => this.element.open && this.#load());
  }

  async #load() {
    if (this.#body.querySelector("table")) return;
    this.#body.replaceChildren("Loading…");
    try {
      this.#body.replaceChildren(table(await listExecutions(this.#messageId)));
    } catch (error) {
      if (error.status === 403) CallDetails.available = false;
      const text = error.status === 403 ? "Only administrators can see the details of calls." : errorText(error);
      this.#body.replaceChildren(text);
    }
  }
}

function table(rows) {
  if (rows.length === 0) return el("p", {}, "Nothing is kept of these calls any more.");
  const titles = ["Tool", "Called with", "Outcome", "Time", "Read by the model", "Credits"];
  const head = el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, title)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows.map(row)));
}

function row(call) {
  const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 1);
  const cells = [call.tool, el("code", { dir: "auto" }, args), ...executionCells(call)];
  return el("tr", { class: call.ok ? null : "failed" }, ...cells.map((cell) => el("td", {}, cell)));
}
