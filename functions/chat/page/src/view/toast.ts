// The toast above the composer: one error, its retry countdown and one action; or a notice of what was done.

import { signal } from "@preact/signals";

import { ApiError } from "../api/client.ts";
import { countDown } from "../answer/countdown.ts";
import { t } from "../i18n/index.ts";
import { announce, byId } from "./dom.ts";

/** What a toast shows in addition to the error: text after it, and a button that is enabled after the wait. */
export interface ToastOptions {
  extra?: string;
  action?: { label: string; run: () => void } | null;
}

/** The shown toast. */
interface Toast extends Required<ToastOptions> {
  /** Null for a notice. */
  error: ApiError | null;
  text: string;
  /** Whether the action has to wait. */
  waits: boolean;
}

/** The codes of errors that end as soon as a request succeeds. */
const CONNECTION_CODES = new Set(["network", "offline", "disconnected"]);

/** How long a notice is shown, in milliseconds. */
const NOTICE_MS = 8000;

/** The toast; null without one. */
export const toast = signal<Toast | null>(null);

/** The text of the toast when it appeared, for screen readers; the countdown is not announced. */
export const toastAnnouncement = signal("");

let stopCountDown = () => {};

/** Shows what was thrown as an error. */
export function showError(thrown: unknown, { extra = "", action = null }: ToastOptions = {}): void {
  hideToast();
  const error = ApiError.from(thrown);
  stopCountDown = countDown(error, (sentence, left) => {
    const text = [sentence, extra].filter(Boolean).join(t.locale === "zh-CN" ? "" : " ");
    toast.value = { error, extra, action, text, waits: left > 0 };
    return true;
  });
  toastAnnouncement.value = toast.value?.text ?? "";
}

/** Shows what was done, with a button such as one that undoes it, for a while after the pointer and the focus have left it. */
export function showNotice(text: string, action: ToastOptions["action"] = null): void {
  hideToast();
  toast.value = { error: null, extra: "", action, text, waits: false };
  announce(text);
  const end = () => (byId("toast").matches(":hover, :focus-within") ? undefined : hideToast());
  const timer = setInterval(end, NOTICE_MS);
  stopCountDown = () => clearInterval(timer);
}

/** Hides the toast and stops its countdown. */
export function hideToast(): void {
  stopCountDown();
  toast.value = null;
  toastAnnouncement.value = "";
}

/** Ends the report of a lost connection: a request has succeeded since. What the user can do about it stays. */
export function hideConnectionError(): void {
  const shown = toast.value;
  if (!shown?.error || !CONNECTION_CODES.has(shown.error.code)) return;
  if (!shown.action || shown.extra === "") return hideToast();
  stopCountDown();
  toast.value = { ...shown, text: shown.extra };
}
