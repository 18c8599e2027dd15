// Modal dialogs: the page holds their markup; this module opens one and waits for its result.
//
// A dialog's form has at most one field, named `value`. The browser traps the focus inside and restores it afterwards.

import { byId } from "./dom.js";

/**
 * Opens a dialog and resolves to its field's value (`''` without a field), or to null when the user cancels.
 *
 * `texts` replaces the text of elements by their `data-text` name. `value` fills the field. `error` is the initial
 * error. `submit` receives the value; while it throws, the dialog stays open and shows the error's message.
 */
export function openDialog(id, { texts = {}, value = "", error = "", submit = () => {} } = {}) {
  const dialog = byId(id);
  const form = dialog.querySelector("form");
  const field = form.elements.namedItem("value");
  for (const [name, text] of Object.entries(texts)) dialog.querySelector(`[data-text="${name}"]`).textContent = text;
  if (field) field.value = value;
  setError(dialog, error);
  dialog.returnValue = "";
  dialog.showModal();
  field?.select();
  return result(dialog, form, () => field?.value.trim() ?? "", submit);
}

function result(dialog, form, readValue, submit) {
  return new Promise((resolve) => {
    form.onsubmit = async (event) => {
      event.preventDefault();
      const value = readValue();
      if (await trySubmit(dialog, () => submit(value))) dialog.close("submitted");
    };
    dialog.onclose = () => {
      const value = dialog.returnValue === "submitted" ? readValue() : null;
      form.reset();
      resolve(value);
    };
  });
}

async function trySubmit(dialog, submit) {
  const submitButton = dialog.querySelector('[type="submit"]');
  submitButton.disabled = true;
  try {
    await submit();
    return true;
  } catch (error) {
    setError(dialog, error.message);
    return false;
  } finally {
    submitButton.disabled = false;
  }
}

function setError(dialog, error) {
  const alert = dialog.querySelector('[role="alert"]');
  if (alert) alert.textContent = error;
  dialog.querySelector('[name="value"]')?.setAttribute("aria-invalid", String(error !== ""));
}

/** Closes a dialog on a click on its `data-close` buttons or on the backdrop. */
export function wireDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) dialog.close("");
    });
  }
}
