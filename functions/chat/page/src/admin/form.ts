// Forms in a dialog of their own: fields from a description, values as a record.

import { button, el } from "../view/dom.ts";
import type { Context } from "./kit.ts";

/** A field; `json` holds a JSON text, and `node` shows other content. */
export type Field = { label: string; hidden?: boolean } & (
  | { kind: "text" | "area" | "number"; value: string; required?: boolean; placeholder?: string }
  | { kind: "json"; value: unknown; required?: boolean; placeholder?: string }
  | { kind: "check"; value: boolean }
  | { kind: "select"; value: string; options: Record<string, string>; onChange?: (value: string) => void }
  | { kind: "node"; node: HTMLElement }
);

/** The values by name: texts, numbers, booleans, parsed JSON; undefined where a field is empty or hidden. */
export type Values = Record<string, unknown>;

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** An open form. */
export interface OpenForm {
  dialog: HTMLDialogElement;
  /** Shows or hides a field; a hidden field has no value. */
  show(name: string, visible: boolean): void;
  close(): void;
}

/** What a form does. */
export interface FormSpec {
  id: string;
  title: string;
  submit: string;
  fields: Record<string, Field>;
  /** While it throws, the form stays open with the error's text. */
  onSubmit: (values: Values) => Promise<void>;
  /** Whether the form stays open after it was submitted. */
  stay?: boolean;
}

/** Opens a form. */
export function openForm(context: Context, { id, title, submit, fields, onSubmit, stay = false }: FormSpec): OpenForm {
  const rows = new Map<string, { row: HTMLElement; read: () => unknown }>();
  for (const [name, field] of Object.entries(fields)) rows.set(name, buildRow(context, `${id}-${name}`, field));
  const error = el("p", { class: "field-error", role: "alert" });
  const send = el("button", { type: "submit", class: "button primary" }, submit);
  const cancel = button(stay ? context.texts.close : context.texts.cancel, () => dialog.close());
  const form = el("form", {}, el("h2", { id: `${id}-heading` }, title), [...rows.values()].map(({ row }) => row));
  form.append(error, el("div", { class: "actions" }, cancel, send));
  const dialog = el("dialog", { id, class: "admin-form", "aria-labelledby": `${id}-heading` }, form);
  const run = async () => {
    send.disabled = true;
    error.textContent = "";
    try {
      const visible = [...rows].filter(([, { row }]) => !row.hidden);
      await onSubmit(Object.fromEntries(visible.map(([name, { read }]) => [name, read()])));
      if (!stay) dialog.close();
    } catch (thrown) {
      error.textContent = context.errorText(thrown);
    } finally {
      send.disabled = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  const show = (name: string, visible: boolean) => {
    const found = rows.get(name);
    if (found) found.row.hidden = !visible;
  };
  return { dialog, show, close: () => dialog.close() };
}

function buildRow(context: Context, id: string, field: Field): { row: HTMLElement; read: () => unknown } {
  const hidden = field.hidden ?? false;
  if (field.kind === "node") {
    return { row: el("div", { class: "admin-field", role: "group", "aria-label": field.label, hidden }, field.node), read: () => undefined };
  }
  if (field.kind === "check") {
    const input = el("input", { type: "checkbox", id, checked: field.value });
    return { row: el("label", { class: "check", for: id, hidden }, input, field.label), read: () => input.checked };
  }
  const control = buildControl(id, field);
  const row = el("div", { class: "admin-field", hidden }, el("label", { for: id }, field.label), control);
  return { row, read: () => readControl(context, field, control.value.trim()) };
}

function buildControl(id: string, field: Exclude<Field, { kind: "node" | "check" }>): Control {
  if (field.kind === "select") {
    const items = Object.entries(field.options).map(([value, text]) => el("option", { value, selected: value === field.value }, text));
    const select = el("select", { id }, items);
    select.addEventListener("change", () => field.onChange?.(select.value));
    return select;
  }
  const attributes = { id, placeholder: field.placeholder, autocomplete: "off", spellcheck: field.kind === "area" };
  if (field.kind === "area" || field.kind === "json") {
    const area = el("textarea", { ...attributes, rows: 4, class: field.kind === "json" ? "code-input" : "" });
    area.value = field.kind === "area" ? field.value : field.value === undefined ? "" : JSON.stringify(field.value, null, 2);
    return area;
  }
  const input = el("input", { ...attributes, type: field.kind, required: field.required, min: field.kind === "number" ? 0 : null });
  input.value = field.value;
  return input;
}

function readControl({ texts }: Context, field: Field, text: string): unknown {
  if (text === "") return undefined;
  if (field.kind === "number") return Number(text);
  if (field.kind !== "json") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(texts.invalidJson(field.label));
  }
}
