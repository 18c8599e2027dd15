// The stored tool calls of an answer, for administrators: the arguments and the outcome, loaded on demand.

import { readAccount } from "../api/account.ts";
import { ApiError, listExecutions } from "../api/client.ts";
import { onKeyChange } from "../api/key.ts";
import type { Execution } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { el } from "../view/dom.ts";
import { errorText, executionCells } from "./strings.ts";

/** Whether the caller is an administrator, as the tab remembers it; otherwise the section would appear late and move the text. */
const ADMINISTRATOR = "administrator";

/** The request that finds out whether the caller is an administrator; sent once. */
let account: Promise<void> | null = null;

onKeyChange(() => {
  account = null;
  sessionStorage.removeItem(ADMINISTRATOR);
});

/** The tool calls of one answer, in a collapsed section that only administrators see. */
export class CallDetails {
  element = el("details", { class: "call-details" }, el("summary", {}, t.details.title));
  #messageId: string;
  #body = el("div", { class: "call-details-body", tabindex: "0", role: "group", "aria-label": t.details.title });

  constructor(messageId: string) {
    this.#messageId = messageId;
    this.element.append(this.#body);
    this.element.addEventListener("toggle", () => {
      if (this.element.open) void this.#load();
    });
    const show = () => {
      this.element.hidden = sessionStorage.getItem(ADMINISTRATOR) !== "true";
    };
    show();
    void CallDetails.prepare().then(show);
  }

  /** Finds out who sees details, while the calls still run. */
  static prepare(): Promise<void> {
    if (sessionStorage.getItem(ADMINISTRATOR) !== null) return Promise.resolve();
    const remember = ({ admin }: { admin: boolean }) => sessionStorage.setItem(ADMINISTRATOR, String(admin));
    const forget = () => {
      account = null;
    };
    account ??= readAccount().then(remember).catch(forget);
    return account;
  }

  async #load(): Promise<void> {
    if (this.#body.querySelector("table")) return;
    this.#body.replaceChildren(t.loading);
    try {
      this.#body.replaceChildren(table(await listExecutions(this.#messageId)));
    } catch (thrown) {
      this.#body.replaceChildren(errorText(ApiError.from(thrown)));
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
