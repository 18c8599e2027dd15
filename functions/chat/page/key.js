// The caller's key: asked for when the server wants one, kept for this browser session only, forgotten on request.

import { ask } from "./dialogs.js";

const NAME = "key";
const listeners = new Set();
let asking = null;

/** The key to send, or null. */
export function key() {
  return sessionStorage.getItem(NAME);
}

/** Calls `listener` now, and whenever a key comes or goes. */
export function onKeyChange(listener) {
  listeners.add(listener);
  listener();
}

/** Drops the key. */
export function forgetKey() {
  sessionStorage.removeItem(NAME);
  changed();
}

/** Asks for a key, once at a time however many requests want one; resolves to whether one was given. */
export function newKey(rejected) {
  asking ??= ask("key-dialog", { fault: rejected ? "That key was not accepted." : "", submit: check }).then(
    (entered) => {
      asking = null;
      if (entered === null) return false;
      sessionStorage.setItem(NAME, entered);
      changed();
      return true;
    },
  );
  return asking;
}

/** Asks nobody any more: the key that was used is gone, and the page is about to begin anew. */
export function stopAsking() {
  asking = new Promise(() => {});
}

/** A header can carry visible ASCII only. */
function check(entered) {
  if (!/^[!-~]+$/.test(entered)) throw new Error("A key is made of letters, digits and signs, without spaces.");
}

function changed() {
  for (const listener of listeners) listener();
}
