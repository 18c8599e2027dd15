// The caller's API key: requested on demand, stored for the browser session, removed on request.

import { openDialog } from "./dialogs.js";

const NAME = "key";
const listeners = new Set();
let prompt = null;

/** The key to send, or null. */
export function key() {
  return sessionStorage.getItem(NAME);
}

/** Calls `listener` now and after each change of the key. */
export function onKeyChange(listener) {
  listeners.add(listener);
  listener();
}

/** Removes the key. */
export function forgetKey() {
  sessionStorage.removeItem(NAME);
  notify();
}

/** Prompts for a key; concurrent calls share one dialog. Resolves to whether the user gave one. */
export function promptForKey(rejected) {
  const error = rejected ? "That key was not accepted." : "";
  prompt ??= openDialog("key-dialog", { error, submit: validate }).then((value) => {
    prompt = null;
    if (value === null) return false;
    sessionStorage.setItem(NAME, value);
    notify();
    return true;
  });
  return prompt;
}

/** Disables the prompt: the key's data is erased, and the page is about to reload. */
export function disablePrompt() {
  prompt = new Promise(() => {});
}

/** Throws if a header cannot carry the key: only visible ASCII is allowed. */
function validate(value) {
  if (!/^[!-~]+$/.test(value)) throw new Error("A key is made of letters, digits and signs, without spaces.");
}

function notify() {
  for (const listener of listeners) listener();
}
