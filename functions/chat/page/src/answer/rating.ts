// What the user thinks of an answer: thumbs up or down, and a reason.

import type { Feedback } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { openDialog } from "../view/dialog.ts";
import { announce, iconButton } from "../view/dom.ts";
import { showError } from "../view/toast.ts";

/** Stores a rating; null withdraws it. */
export type Rate = (feedback: Feedback | null) => Promise<unknown>;

/** The two buttons. */
export class Rating {
  up = iconButton(t.rating.up, "thumb", () => void this.#choose("up"));
  down = iconButton(t.rating.down, "thumb", () => void this.#choose("down"));
  #current: Feedback | null = null;
  #rate: Rate;
  #busy = false;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.down.classList.add("turned");
    this.show(null);
  }

  /** Shows what is stored. */
  show(feedback: Feedback | null | undefined): void {
    this.#current = feedback ?? null;
    for (const name of ["up", "down"] as const) this[name].setAttribute("aria-pressed", String(feedback?.rating === name));
  }

  async #choose(rating: Feedback["rating"]): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const before = this.#current;
    const chosen = before?.rating === rating ? null : { rating };
    this.show(chosen);
    try {
      await this.#rate(chosen);
      announce(chosen ? t.rating.thanks : t.rating.withdrawn);
      if (rating === "down" && chosen) void this.#requestReason();
    } catch (error) {
      this.show(before);
      showError(error);
    } finally {
      this.#busy = false;
    }
  }

  async #requestReason(): Promise<void> {
    const onSubmit = async (reason: string) => {
      if (reason === "") return;
      const feedback: Feedback = { rating: "down", reason };
      await this.#rate(feedback);
      this.show(feedback);
    };
    const field = { label: t.rating.reason };
    await openDialog({ id: "reason-dialog", title: t.rating.thanks, field, submit: { label: t.rating.send }, onSubmit });
  }
}
