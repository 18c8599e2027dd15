// Modal dialogs: the page holds their markup, this asks one and waits for the answer.
//
// A dialog's form has at most one field, named `value`. The browser keeps the focus inside and gives it back afterwards.

import { byId } from "./dom.js";

/**
 * Shows a dialog and resolves to what was entered (`''` when there is no field), or null when it was cancelled.
 *
 * `words` replaces the text of elements by their `data-words` name, `value` fills the field, `fault` is what to complain
 * about at once. `submit` is given what was entered; while it throws, the dialog stays open and says why.
 */
export function ask(id, { words = {}, value = "", fault = "", submit = () => {} } = {}) {
  const dialog = byId(id);
  const form = dialog.querySelector("form");
  const field = form.elements.namedItem("value");
  for (const [name, text] of Object.entries(words)) dialog.querySelector(`[data-words="${name}"]`).textContent = text;
  if (field) field.value = value;
  complain(dialog, fault);
  dialog.returnValue = "";
  dialog.showModal();
  field?.select();
  return answer(dialog, form, () => field?.value.trim() ?? "", submit);
}

function answer(dialog, form, entered, submit) {
  return new Promise((resolve) => {
    form.onsubmit = async (event) => {
      event.preventDefault();
      const value = entered();
      if (await accepted(dialog, () => submit(value))) dialog.close("taken");
    };
    dialog.onclose = () => {
      const value = dialog.returnValue === "taken" ? entered() : null;
      form.reset();
      resolve(value);
    };
  });
}

async function accepted(dialog, submit) {
  const send = dialog.querySelector('[type="submit"]');
  send.disabled = true;
  try {
    await submit();
    return true;
  } catch (error) {
    complain(dialog, error.message);
    return false;
  } finally {
    send.disabled = false;
  }
}

function complain(dialog, fault) {
  const place = dialog.querySelector('[role="alert"]');
  if (place) place.textContent = fault;
  dialog.querySelector('[name="value"]')?.setAttribute("aria-invalid", String(fault !== ""));
}

/** Makes every `data-close` button close its dialog, and a click beside a dialog too. */
export function wireDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) dialog.close("");
    });
  }
}
