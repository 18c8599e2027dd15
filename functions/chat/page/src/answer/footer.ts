// The last line of an answer: its sources, what can be done with it and its versions; its figures on demand.

import type { Usage } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { showCallDetails } from "../parts/use.ts";
import { isDemo } from "../state/choice.ts";
import { button, el, iconButton } from "../view/dom.ts";
import { Versions } from "../view/versions.ts";
import { Rating, type Rate } from "./rating.ts";
import { attributionText, durationText, usageText } from "./strings.ts";

/** What the buttons do. */
export interface FooterActions {
  onCopy: (button: HTMLElement) => void;
  onRegenerate: () => void;
  onDelete: () => void;
  onSelect: (messageId: string) => void;
  onRate: Rate;
}

/** What an answer is when it has ended. */
export interface EndedAnswer {
  empty: boolean;
  model: string;
  models: string[];
  /** The id of the message if it has tool calls, which administrators see below the figures. */
  callsOf: string | null;
}

/** The line; it is empty until the answer ends, but for the versions. */
export class AnswerFooter {
  element = el("footer", { class: "answer-footer" });
  versions: Versions;
  rating: Rating;
  /** The time until the first text; 0 if this page did not send the request. */
  firstTextMs = 0;
  #usage: Usage | null = null;
  #actions: FooterActions;
  #sources: HTMLElement;

  /** `sources` opens the list of sources. */
  constructor(actions: FooterActions, sources: HTMLElement) {
    this.#actions = actions;
    this.#sources = sources;
    this.versions = new Versions(actions.onSelect);
    this.rating = new Rating(actions.onRate);
    this.clear();
  }

  /** Removes everything but the versions: the answer is being written. */
  clear(): void {
    this.#usage = null;
    this.element.replaceChildren(this.versions.element);
  }

  /** Takes the figures, which the end shows. */
  setUsage(usage: Usage): void {
    this.#usage = usage;
  }

  /** Shows the line of an answer that has ended; without a text there is nothing to copy, to rate or to count. */
  show({ empty, model, models, callsOf }: EndedAnswer): void {
    const { onCopy, onRegenerate, onDelete } = this.#actions;
    const copy = iconButton(t.copy, "copy", () => onCopy(copy));
    const again = iconButton(t.answer.again, "reload", onRegenerate);
    // A stored answer has neither the time nor whether a demo wrote it.
    const demo = isDemo.value && this.firstTextMs > 0 ? [t.demo.free, t.demo.firstText(durationText(this.firstTextMs))] : [];
    const figures = [...(this.#usage && !empty ? [usageText(this.#usage)] : []), ...demo, model].join(" · ");
    const remove = button(t.deleteFrom, onDelete, { iconName: "trash", kind: "text" });
    const panel = el("div", { class: "answer-more", hidden: true }, el("span", { class: "usage" }, figures), remove);
    let calls = callsOf;
    const more = iconButton(t.answer.more, "more", () => {
      panel.hidden = !panel.hidden;
      more.setAttribute("aria-expanded", String(!panel.hidden));
      if (calls !== null) showCallDetails(panel, calls);
      calls = null;
    });
    more.setAttribute("aria-expanded", "false");
    const attribution = attributionText(models, model);
    this.element.replaceChildren(
      this.#sources,
      el("div", { class: "message-actions" }, empty ? [] : copy, again, empty ? [] : [this.rating.up, this.rating.down], more),
      this.versions.element,
      ...(attribution ? [el("span", { class: "attribution" }, attribution)] : []),
      panel,
    );
  }
}
