// The messages on the page: the end of the shown branch, and earlier ones as far as they were loaded.

import { AnswerView } from "../answer/answer.ts";
import type { Message } from "../api/types.ts";
import { QuestionView } from "./question.ts";
import type { Thread } from "./thread.ts";

export type MessageView = QuestionView | AnswerView;

/** The view of a message; `known` is the one that shows it at the moment. */
export type ViewOf = (message: Message, known: MessageView | null) => MessageView;

/** The views of the messages in their order. */
export class Branch {
  #thread: Thread;
  #views: MessageView[] = [];

  constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** The views, oldest first. */
  get views(): readonly MessageView[] {
    return this.#views;
  }

  /** The view of a message; null if it is not on the page. */
  find(messageId: string | null): MessageView | null {
    return this.#views.find((view) => view.messageId === messageId) ?? null;
  }

  /** Opens the last message of the user to edit it; returns whether there is one. */
  editLast(): boolean {
    const last = this.#views.findLast((view) => view instanceof QuestionView);
    last?.edit(last.text);
    return last !== undefined;
  }

  /** The position after a message; 0 for the beginning, and for a message that is not on the page. */
  after(messageId: string | null): number {
    return this.#views.findIndex((view) => messageId !== null && view.messageId === messageId) + 1;
  }

  /** Replaces the views from a position on. Returns those that it removes. */
  replace(from: number, ...views: MessageView[]): MessageView[] {
    const removed = this.#views.splice(from, Infinity, ...views);
    this.#thread.show(this.#views.map(({ element }) => element));
    return removed;
  }

  /** Shows messages up to the end of a branch. Returns whether it goes through earlier messages that are on the page. */
  show(messages: Message[], viewOf: ViewOf): boolean {
    const from = Math.max(0, this.after(messages[0]?.id ?? null) - 1);
    const known = new Set(this.#views.slice(from));
    const views = messages.map((message) => {
      const found = [...known].find((view) => shows(view, message)) ?? null;
      if (found) known.delete(found);
      return viewOf(message, found);
    });
    this.replace(from, ...views);
    return from > 0;
  }

  /** Shows messages before the first one, which stays where it is on the screen. */
  prepend(messages: Message[], viewOf: ViewOf): void {
    const first = this.#views[0]?.element;
    const change = () => {
      const views = messages.map((message) => viewOf(message, null));
      this.#views.unshift(...views);
      this.#thread.prepend(views.map(({ element }) => element));
    };
    if (first) this.#thread.hold(first, change);
    else change();
  }
}

function shows(view: MessageView, { id, role, content }: Message): boolean {
  if (view.messageId !== null) return view.messageId === id;
  return view instanceof QuestionView && role === "user" && view.text === content;
}

/** Whether an answer on the page is the stored one, so that it need not be made again. */
export function isCurrent(view: MessageView | null, message: Message): view is AnswerView {
  if (!(view instanceof AnswerView) || view.stored === null || message.status === "running") return false;
  const state = ({ status, finishReason, content, error }: Message) => JSON.stringify([status, finishReason, content, error?.code]);
  return state(view.stored) === state(message);
}
