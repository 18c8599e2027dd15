// Which of several messages in one position is shown, with buttons to the adjacent ones: `‹ 2/3 ›`.

import { t } from "../i18n/index.ts";
import { announce, el, iconButton } from "./dom.ts";

/** The switch between the versions of a message; hidden while there is only one. */
export class Versions {
  element: HTMLElement = el("div", { class: "versions", role: "group", hidden: true });
  /** The ids of all versions by creation; null for one whose id is not known yet. Empty if there is only one. */
  ids: (string | null)[] = [];
  #label = el("span", {});
  #previous: HTMLButtonElement;
  #next: HTMLButtonElement;
  /** The index of the shown one in `ids`. */
  at = 0;

  constructor(onSelect: (messageId: string) => void) {
    const step = (by: number) => () => {
      const id = this.ids[this.at + by];
      if (id) onSelect(id);
    };
    this.#previous = iconButton(t.versions.previous, "chevron", step(-1));
    this.#next = iconButton(t.versions.next, "chevron", step(1));
    this.element.append(this.#previous, this.#label, this.#next);
  }

  /** Shows that version `at`, from 0, of these is the shown one. */
  show(ids: (string | null)[], at: number): void {
    this.ids = ids.length > 1 ? ids : [];
    this.at = at;
    this.element.hidden = ids.length < 2;
    if (ids.length < 2) return;
    this.element.setAttribute("aria-label", t.versions.position(at + 1, ids.length));
    this.#label.textContent = `${at + 1}/${ids.length}`;
    this.#previous.disabled = !ids[at - 1];
    this.#next.disabled = !ids[at + 1];
  }

  /** Focuses the button towards the other versions from the one at `before`, and announces the position. */
  focus(before: number): void {
    const [wanted, other] = this.at < before ? [this.#previous, this.#next] : [this.#next, this.#previous];
    (wanted.disabled ? other : wanted).focus({ preventScroll: true });
    announce(this.element.getAttribute("aria-label") ?? "");
  }
}
