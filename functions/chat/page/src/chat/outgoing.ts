// The messages that have not arrived yet: after an error or a sign-in they are sent again, or go back into their box.

import type { ApiError } from "../api/client.ts";
import { onLeave } from "../api/session.ts";
import { t } from "../i18n/index.ts";
import { startNew } from "../state/open.ts";
import { showError } from "../view/toast.ts";
import type { MessageView } from "./branch.ts";
import type { Composer } from "./composer.ts";
import { QuestionView } from "./question.ts";
import type { OutgoingMessage } from "./turn.ts";

/** The messages that were being sent when the page left for a sign-in. */
const INTERRUPTED = "interrupted";

/** A message that the server rejected. */
interface Rejected {
  message: OutgoingMessage;
  error: ApiError;
  /** The message that it was to replace, or null. */
  replaced: MessageView | null;
  /** Whether its conversation is on the page. */
  visible: boolean;
}

/** The messages of this page that have not arrived yet. */
export class Outgoing {
  #messages = new Set<OutgoingMessage>();

  constructor() {
    onLeave(() => sessionStorage.setItem(INTERRUPTED, JSON.stringify([...this.#messages])));
  }

  add(message: OutgoingMessage): void {
    this.#messages.add(message);
  }

  /** Removes a message that has arrived. */
  delete(message: OutgoingMessage): void {
    this.#messages.delete(message);
  }

  /** Removes and returns the messages that a sign-in interrupted. */
  takeInterrupted(): OutgoingMessage[] {
    const stored = sessionStorage.getItem(INTERRUPTED) ?? "[]";
    sessionStorage.removeItem(INTERRUPTED);
    return JSON.parse(stored) as OutgoingMessage[];
  }

  /** Puts a rejected message back into its text field or the composer of its conversation, and shows the error. */
  restore({ message, error, replaced, visible }: Rejected, composer: Composer | null): void {
    this.delete(message);
    const { conversationId, text, attachments } = message;
    if (visible && replaced instanceof QuestionView) {
      replaced.edit(text);
      return showError(error);
    }
    composer?.restore(conversationId, text, attachments);
    const again = { label: t.chat.sendAgain, run: () => composer?.submit() };
    const action = error.status === 404 && conversationId !== null ? this.#startNew(conversationId, composer) : error.retryable ? again : null;
    showError(error, { extra: visible ? t.chat.backInBox : t.chat.backInItsBox, action: visible ? action : null });
  }

  /** Opens a new conversation with the draft of one that is gone. */
  #startNew(gone: string, composer: Composer | null): { label: string; run: () => void } {
    const run = () => {
      composer?.moveToNew(gone);
      startNew();
    };
    return { label: t.chat.startNew, run };
  }
}
