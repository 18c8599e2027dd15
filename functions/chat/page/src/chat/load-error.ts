// What is shown instead of a conversation that cannot be read.

import { errorText } from "../answer/strings.ts";
import type { ApiError } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { button, el } from "../view/dom.ts";

/** The reason, and what can be done: a conversation that is gone is followed by a new one. */
export function loadErrorElement(error: ApiError, { onNew, onRetry }: { onNew: () => void; onRetry: () => void }): HTMLElement {
  const missing = error.status === 404;
  const action = missing ? button(t.chat.startNew, onNew, { iconName: "new" }) : button(t.retry, onRetry, { iconName: "reload" });
  return el("div", { class: "load-error", role: "alert" }, el("p", {}, missing ? t.chat.gone : errorText(error)), action);
}
