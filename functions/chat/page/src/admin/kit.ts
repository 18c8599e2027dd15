// What the administration uses of the page. It is passed in, so that this part does not contain the page once more.

import type { Texts } from "./en.ts";

export interface Kit {
  locale: string;
  /** Sends a request with the caller's credential. */
  request<T>(method: string, path: string, body?: object): Promise<T>;
  /** A failure as a sentence; the server's own sentence for an invalid request. */
  errorText(thrown: unknown): string;
  /** Requires a confirmation; `act` may throw an error with the text to show. */
  confirm(title: string, text: string, label: string, act: () => Promise<void>): void;
  copy(text: string): Promise<void>;
  /** The sums and budgets of all callers. */
  usage(): Promise<HTMLElement[]>;
  /** The check of each model. */
  modelCheck(): HTMLElement;
}

/** The kit with the texts of its language. */
export interface Context extends Kit {
  texts: Texts;
}
