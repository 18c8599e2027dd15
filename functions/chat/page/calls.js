// What the tools of an answer were called with and how it went, for administrators: read when somebody wants to see it.

import { listExecutions } from "./api.js";
import { el } from "./dom.js";
import { callNumbers, errorWords } from "./words.js";

/** The calls of one answer, folded away. */
export class CallDetails {
  /** Whether the server shows them to this caller, as far as is known. */
  static offered = true;
  element = el("details", { class: "calls" }, el("summary", {}, "Details"));
  #messageId;
  #body = el("div", { class: "calls-body" });

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
      if (error.status === 403) CallDetails.offered = false;
      const words = error.status === 403 ? "Only administrators can see the details of calls." : errorWords(error);
      this.#body.replaceChildren(words);
    }
  }
}

function table(rows) {
  if (rows.length === 0) return el("p", {}, "Nothing is kept of these calls any more.");
  const heads = ["Tool", "Called with", "Outcome", "Time", "Read by the model", "Credits"];
  const head = el("tr", {}, ...heads.map((words) => el("th", { scope: "col" }, words)));
  return el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows.map(row)));
}

function row(call) {
  const args = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 1);
  const cells = [call.tool, el("code", { dir: "auto" }, args), ...callNumbers(call)];
  return el("tr", { class: call.ok ? null : "failed" }, ...cells.map((cell) => el("td", {}, cell)));
}
