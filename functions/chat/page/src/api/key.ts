// The caller's API key: requested on demand, stored for the browser session or on the device, removed on request.

import { t } from "../i18n/index.ts";
import { openDialog } from "../view/dialog.ts";
import { el } from "../view/dom.ts";

const NAME = "key";
const listeners = new Set<() => void>();
let prompt: Promise<boolean> | null = null;

/** The key to send, or null. A key of this tab precedes the device's. */
export function storedKey(): string | null {
  return sessionStorage.getItem(NAME) ?? localStorage.getItem(NAME);
}

/** Whether the key is kept on the device. */
export function isKept(): boolean {
  return sessionStorage.getItem(NAME) === null && localStorage.getItem(NAME) !== null;
}

/** Moves the key to the device, or back to this tab. */
export function keepKey(keep: boolean): void {
  const value = storedKey();
  if (value !== null) store(value, keep);
}

function store(value: string, keep: boolean): void {
  forget();
  (keep ? localStorage : sessionStorage).setItem(NAME, value);
}

function forget(): void {
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}

/** Calls `listener` now and after each change of the key. */
export function onKeyChange(listener: () => void): void {
  listeners.add(listener);
  listener();
}

/** Removes the key from this tab and from the device. */
export function forgetKey(): void {
  forget();
  notifyKeyChange();
}

/** Prompts for a key; concurrent calls share one dialog. Resolves to whether the user gave one. */
export function promptForKey(rejected: boolean): Promise<boolean> {
  const keep = el("input", { type: "checkbox", "aria-describedby": "key-keep-hint" });
  prompt ??= openDialog({
    id: "key-dialog",
    title: t.key.title,
    body: [el("p", {}, t.key.text)],
    field: { label: t.key.label, type: "password" },
    controls: [
      el("label", { class: "check" }, keep, t.key.keep),
      el("p", { class: "hint", id: "key-keep-hint" }, t.key.keepHint),
    ],
    submit: { label: t.key.use },
    error: rejected ? t.key.rejected : "",
    onSubmit: validate,
  }).then((value) => {
    prompt = null;
    if (value === null) return false;
    store(value, keep.checked);
    notifyKeyChange();
    return true;
  });
  return prompt;
}

/** Disables the prompt: the key's data is erased, and the page is about to reload. */
export function disablePrompt(): void {
  prompt = new Promise(() => {});
}

/** Throws if a header cannot carry the key: only visible ASCII is allowed. */
function validate(value: string): void {
  if (!/^[!-~]+$/.test(value)) throw new Error(t.key.invalid);
}

/** Calls the listeners. */
export function notifyKeyChange(): void {
  for (const listener of listeners) listener();
}
