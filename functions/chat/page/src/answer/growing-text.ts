// A text that grows while it is written, can end, and can continue after its end.

import type { Source, ToolCall } from "../api/types.ts";
import { MarkdownView } from "../markdown/view.ts";

/** What texts refer to. */
export interface Citations {
  cite: (number: number) => Source | null;
  hasSources: () => boolean;
  isDocument: (path: string) => boolean;
  /** Receives each call, whose results later text may cite. */
  onCall: (call: ToolCall) => void;
}

/** A Markdown text in an element. */
export class GrowingText {
  readonly element: HTMLElement;
  text = "";
  #citations: Citations | undefined;
  #view: MarkdownView;

  constructor(element: HTMLElement, citations?: Citations) {
    this.element = element;
    this.#citations = citations;
    this.#view = new MarkdownView(element, citations);
  }

  /** Adds text, which the next `render` shows. */
  push(delta: string): void {
    // Line breaks at the beginning would be an empty part.
    const added = this.text === "" ? delta.replace(/^\s*\n/, "") : delta;
    this.text += added;
    this.#view.push(added);
  }

  render(): void {
    this.#view.render();
  }

  finish(cut = false): void {
    this.#view.finish(cut);
  }

  /** Lets the text grow again after its end. */
  reopen(): void {
    this.element.replaceChildren();
    this.#view = new MarkdownView(this.element, this.#citations);
    this.#view.push(this.text);
    this.#view.render();
  }
}
