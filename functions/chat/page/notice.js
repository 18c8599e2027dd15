// A sentence above the composer about something that did not work, with the wait counted down and one thing to do.

import { button, byId } from "./dom.js";
import { errorWords } from "./words.js";

let ticking = 0;

/** Shows an error; `extra` is said after it, `action` (`{ words, run }`) can be done once the wait is over. */
export function showError(error, { extra = "", action = null } = {}) {
  hideNotice();
  const todo =
    action &&
    button(
      action.words,
      () => {
        hideNotice();
        action.run();
      },
      { name: "reload" },
    );
  byId("notice-action").replaceChildren(...(todo ? [todo] : []));
  const until = Date.now() + error.retryAfter * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    byId("notice-words").textContent = [errorWords(error, left), extra].filter(Boolean).join(" ");
    if (todo) todo.disabled = left > 0;
    if (left === 0) clearInterval(ticking);
  };
  ticking = setInterval(tick, 1000);
  tick();
  byId("notice-spoken").textContent = byId("notice-words").textContent;
  byId("notice").hidden = false;
}

/** Takes the sentence away. */
export function hideNotice() {
  clearInterval(ticking);
  byId("notice").hidden = true;
  byId("notice-spoken").textContent = "";
}
