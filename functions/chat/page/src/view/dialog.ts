// Modal dialogs: one function builds a dialog, opens it and waits for its result.
//
// The browser traps the focus inside and restores it afterwards.

import { render, type ComponentChildren } from "preact";

import { t } from "../i18n/index.ts";
import { button, el, type Child } from "./dom.ts";
import { failureText } from "./failures.ts";

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
  /** Components after the body. */
  content?: ComponentChildren;
  field?: Field;
  /** Controls after the field. */
  controls?: Child[];
  /** The button that submits, else the dialog has only a button that closes it. */
  submit?: { label: string; kind?: "primary" | "danger" };
  /** Whether the submit button is the only one. */
  acknowledge?: boolean;
  /** The initial error. */
  error?: string;
  /** Receives the field's value (`''` without a field); while it throws or its promise rejects, the dialog stays open with the failure's text. */
  onSubmit?: (value: string) => unknown;
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
  const { id, field, submit } = spec;
  const input = field ? fieldInput(field, id) : null;
  const error = el("p", { class: "field-error", id: `${id}-error`, role: "alert" });
  const send = submit && el("button", { type: "submit", class: `button ${submit.kind ?? "primary"}` }, submit.label);
  const close = button(submit ? t.cancel : t.close, () => dialog.close(""));
  const content = el("div", { class: "dialog-content" });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: `${id}-heading` }, spec.title),
    spec.body ?? [],
    content,
    field && input ? [el("label", { for: input.id }, field.label), input] : [],
    error,
    spec.controls ?? [],
    el("div", { class: "actions" }, spec.acknowledge ? [] : close, send ?? []),
  );
  const dialog = el("dialog", { id, "aria-labelledby": `${id}-heading` }, form);
  const showError = (text: string) => {
    error.textContent = text;
    input?.setAttribute("aria-invalid", String(text !== ""));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submitTo(spec, input?.value.trim() ?? "", send, showError).then((done) => done && dialog.close("submitted"));
  });
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close("");
  });
  showError(spec.error ?? "");
  render(spec.content, content);
  document.body.append(dialog);
  const result = new Promise<string | null>((resolve) => {
    dialog.addEventListener("close", () => {
      render(null, content);
      dialog.remove();
      resolve(dialog.returnValue === "submitted" ? (input?.value.trim() ?? "") : null);
    });
  });
  dialog.showModal();
  input?.select();
  return { element: dialog, result, close: () => dialog.close("") };
}

function fieldInput({ type = "text", value = "" }: Field, id: string): HTMLInputElement {
  const fixed = { name: "value", autocomplete: "off", autocapitalize: "none", spellcheck: "false", dir: "auto" };
  const input = el("input", { id: `${id}-value`, type, "aria-describedby": `${id}-error`, ...fixed });
  input.value = value;
  return input;
}

type SubmitButton = HTMLButtonElement | undefined;

/** Submits a value; resolves to whether it was accepted. */
async function submitTo(spec: DialogSpec, value: string, send: SubmitButton, showError: (text: string) => void): Promise<boolean> {
  if (send) send.disabled = true;
  try {
    await spec.onSubmit?.(value);
    showError("");
    return true;
  } catch (error) {
    showError(failureText(error));
    return false;
  } finally {
    if (send) send.disabled = false;
  }
}

/** Opens a dialog whose whole content are components. */
export function showModal(attributes: Record<string, string>, content: (close: () => void) => ComponentChildren): HTMLDialogElement {
  const dialog = el("dialog", attributes);
  render(content(() => dialog.close()), dialog);
  dialog.addEventListener("close", () => {
    render(null, dialog);
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
