// The toast above the composer: one error, its retry countdown and one action.

import { button, byId } from "./dom.js";
import { errorText } from "./strings.js";

let countdown = 0;

/** Shows an error; `extra` is text after it, `action` (`{ label, run }`) a button that is enabled after the wait. */
export function showError(error, { extra = "", action = null } = {}) {
  hideToast();
  const run = () => {
    hideToast();
    action.run();
  };
  const actionButton = action && button(action.label, run, { iconName: "reload" });
  byId("toast-action").replaceChildren(...(actionButton ? [actionButton] : []));
  const until = Date.now() + error.retryAfter * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    byId("toast-text").textContent = [errorText(error, left), extra].filter(Boolean).join(" ");
    if (actionButton) actionButton.disabled = left > 0;
    if (left === 0) clearInterval(countdown);
  };
  countdown = setInterval(tick, 1000);
  tick();
  byId("toast-announcer").textContent = byId("toast-text").textContent;
  byId("toast").hidden = false;
}

/** Hides the toast and stops its countdown. */
export function hideToast() {
  clearInterval(countdown);
  byId("toast").hidden = true;
  byId("toast-announcer").textContent = "";
}
