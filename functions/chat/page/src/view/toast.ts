// The toast above the composer: one error, its retry countdown and one action.

import type { ApiError } from "../api/client.ts";
import { errorText } from "../answer/strings.ts";
import { t } from "../i18n/index.ts";
import { button, byId } from "./dom.ts";

/** What a toast shows in addition to the error: text after it, and a button that is enabled after the wait. */
export interface ToastOptions {
  extra?: string;
  action?: { label: string; run: () => void } | null;
}

/** The codes of errors that end as soon as a request succeeds. */
const CONNECTION_CODES = new Set(["network", "offline", "disconnected"]);

let countdown: ReturnType<typeof setInterval> | undefined;
let shown: ApiError | null = null;

/** Shows an error. */
export function showError(error: ApiError, { extra = "", action = null }: ToastOptions = {}): void {
  hideToast();
  shown = error;
  const run = () => {
    hideToast();
    action?.run();
  };
  const actionButton = action && button(action.label, run, { iconName: "reload" });
  byId("toast-action").replaceChildren(...(actionButton ? [actionButton] : []));
  const until = Date.now() + error.retryAfter * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    byId("toast-text").textContent = [errorText(error, left), extra].filter(Boolean).join(t.locale === "zh-CN" ? "" : " ");
    if (actionButton) actionButton.disabled = left > 0;
    if (left === 0) clearInterval(countdown);
  };
  countdown = setInterval(tick, 1000);
  tick();
  byId("toast-announcer").textContent = byId("toast-text").textContent;
  byId("toast").hidden = false;
}

/** Hides the toast and stops its countdown. */
export function hideToast(): void {
  clearInterval(countdown);
  shown = null;
  byId("toast").hidden = true;
  byId("toast-announcer").textContent = "";
}

/** Hides the toast if it reports a lost connection: a request has succeeded since. */
export function hideConnectionError(): void {
  if (shown && CONNECTION_CODES.has(shown.code)) hideToast();
}
