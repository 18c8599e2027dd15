// Tables and rows of the administration.

import { button, el, type Child } from "../view/dom.ts";
import type { Context } from "./kit.ts";

/** A table that scrolls sideways on a narrow screen. */
export function table(label: string, columns: readonly string[], rows: Child[][]): HTMLElement {
  const head = columns.map((column) => (column ? el("th", { scope: "col" }, column) : el("td")));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell) => el("td", {}, cell))));
  const node = el("table", { class: "admin-table" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
  return el("div", { class: "scrolls", tabindex: 0, role: "region", "aria-label": label }, node);
}

/** One definition with its actions. */
export function card(title: string, notes: string[], text: string, actions: HTMLElement[]): HTMLElement {
  const heading = el("div", {}, el("strong", {}, title), " ", el("span", { class: "dim" }, notes.filter(Boolean).join(" · ")));
  return el("li", {}, el("div", { class: "admin-card" }, heading, text ? el("p", {}, text) : []), el("div", { class: "row" }, actions));
}

/** An action of a row; its accessible name also names the row. */
export function action(label: string, name: string, run: () => void, kind = "text"): HTMLButtonElement {
  const node = button(label, run, { kind });
  node.setAttribute("aria-label", `${label}: ${name}`);
  return node;
}

/** A date and a time in the page's language. */
export function time(context: Context, value: string | null | undefined): string {
  if (!value) return "";
  return new Intl.DateTimeFormat(context.locale, { dateStyle: "medium", timeStyle: "short" }).format(new Date(value));
}
