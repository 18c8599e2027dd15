// Modal dialogs: one function builds a dialog, opens it and waits for its result.
//
// The browser traps the focus inside and restores it afterwards.

import { t } from "../i18n/index.ts";
import { button, el, type Child } from "./dom.ts";

/** The text field of a dialog. */
export interface Field {
  label: Child;
  type?: "text" | "password";
  value?: string;
}

/** The content of a dialog. */
export interface DialogSpec {
  /** The CSS id of the dialog; its heading, field and error have ids that begin with it. */
  id: string;
  title: string;
  body?: Child[];
  field?: Field;
  /** Controls after the field. */
  controls?: Child[];
  /** The button that submits, else the dialog has only a button that closes it. */
  submit?: { label: string; kind?: "primary" | "danger" };
  /** Whether the submit button is the only one. */
  acknowledge?: boolean;
  /** The initial error. */
  error?: string;
  /** Receives the field's value (`''` without a field); while it throws, the dialog stays open with the error's message. */
  onSubmit?: (value: string) => void | Promise<void>;
}

/** An open dialog. */
export interface OpenDialog {
  element: HTMLDialogElement;
  /** Resolves to the field's value (`''` without a field), or to null when the user cancels. */
  result: Promise<string | null>;
  close(): void;
}

/** Opens a dialog and resolves to its field's value (`''` without a field), or to null when the user cancels. */
export function openDialog(spec: DialogSpec): Promise<string | null> {
  return showDialog(spec).result;
}

/** Opens a dialog that the caller can change and close. */
export function showDialog(spec: DialogSpec): OpenDialog {
  const parts = build(spec);
  const { dialog, form, input } = parts;
  document.body.append(dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close("");
  });
  setError(parts, spec.error ?? "");
  const result = new Promise<string | null>((resolve) => {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void submit(parts, spec);
    });
    dialog.addEventListener("close", () => {
      const value = input?.value.trim() ?? "";
      dialog.remove();
      resolve(dialog.returnValue === "submitted" ? value : null);
    });
  });
  dialog.showModal();
  input?.select();
  return { element: dialog, result, close: () => dialog.close("") };
}

interface Parts {
  dialog: HTMLDialogElement;
  form: HTMLFormElement;
  input: HTMLInputElement | null;
  error: HTMLElement;
  submitButton: HTMLButtonElement | null;
}

function build(spec: DialogSpec): Parts {
  const [titleId, fieldId, errorId] = [`${spec.id}-title`, `${spec.id}-value`, `${spec.id}-error`];
  const input = spec.field ? fieldInput(spec.field, fieldId, errorId) : null;
  const error = el("p", { class: "field-error", id: errorId, role: "alert" });
  const submitButton = spec.submit
    ? el("button", { type: "submit", class: `button ${spec.submit.kind ?? "primary"}` }, spec.submit.label)
    : null;
  const close = button(spec.submit ? t.cancel : t.close, () => dialog.close(""));
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: titleId }, spec.title),
    spec.body ?? [],
    spec.field && input ? [el("label", { for: fieldId }, spec.field.label), input] : [],
    error,
    spec.controls ?? [],
    el("div", { class: "actions" }, spec.acknowledge ? [] : close, submitButton ?? []),
  );
  const dialog = el("dialog", { id: spec.id, "aria-labelledby": titleId }, form);
  return { dialog, form, input, error, submitButton };
}

function fieldInput(field: Field, id: string, errorId: string): HTMLInputElement {
  const input = el("input", {
    id,
    name: "value",
    type: field.type ?? "text",
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    dir: "auto",
    "aria-describedby": errorId,
  });
  input.value = field.value ?? "";
  return input;
}

async function submit(parts: Parts, spec: DialogSpec): Promise<void> {
  const { dialog, input, submitButton } = parts;
  if (submitButton) submitButton.disabled = true;
  try {
    await spec.onSubmit?.(input?.value.trim() ?? "");
    dialog.close("submitted");
  } catch (error) {
    setError(parts, error instanceof Error ? error.message : String(error));
  } finally {
    if (submitButton) submitButton.disabled = false;
  }
}

function setError({ input, error }: Parts, text: string): void {
  error.textContent = text;
  input?.setAttribute("aria-invalid", String(text !== ""));
}
