// Loads the messages of a conversation: the last ones first, and earlier ones when the reader comes near them.

import { readConversation, type MessagePage } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { showError } from "../view/toast.ts";
import type { Branch, ViewOf } from "./branch.ts";
import type { Thread } from "./thread.ts";

/** Where earlier messages are. */
interface Earlier {
  conversationId: string;
  cursor: string;
  viewOf: ViewOf;
}

/** The loaded part of the open conversation. */
export class History {
  #thread: Thread;
  #branch: Branch;
  #abort = new AbortController();
  /** Where the messages before the shown ones are; null if there are none. */
  #earlier: Earlier | null = null;

  constructor(thread: Thread, branch: Branch) {
    this.#thread = thread;
    this.#branch = branch;
  }

  /** Ends earlier loads; the signal is aborted by the next one. */
  begin(): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    return this.#abort.signal;
  }

  /** Removes all messages. */
  clear(): void {
    this.#offer(null);
    this.#branch.replace(0);
  }

  /** Shows the end of a branch. Earlier messages that are on the page stay if it goes through them. */
  show({ conversation, messages, nextCursor }: MessagePage, viewOf: ViewOf): void {
    const keepsEarlier = this.#branch.show(messages, viewOf);
    const earlier = nextCursor === null ? null : { conversationId: conversation.id, cursor: nextCursor, viewOf };
    this.#offer(keepsEarlier ? this.#earlier : earlier);
  }

  /** Scrolls to a message, which may be far before the shown ones; to the end if there is no such message. */
  async scrollTo(messageId: string | null, signal: AbortSignal): Promise<void> {
    while (messageId !== null && this.#earlier !== null && this.#branch.find(messageId) === null) {
      await this.#load(this.#earlier);
      if (signal.aborted) return;
    }
    if (!this.#thread.showMessage(messageId ?? "")) this.#thread.follow();
  }

  #offer(earlier: Earlier | null): void {
    this.#earlier = earlier;
    this.#thread.offerEarlier(earlier && (() => this.#tryLoad(earlier)));
  }

  async #tryLoad(earlier: Earlier): Promise<void> {
    try {
      await this.#load(earlier);
    } catch (error) {
      if (this.#earlier !== earlier) return;
      showError(error, { action: { label: t.retry, run: () => this.#offer(earlier) } });
    }
  }

  async #load(earlier: Earlier): Promise<void> {
    const { conversationId, cursor, viewOf } = earlier;
    const branch = this.#branch.views[0]?.messageId ?? null;
    const { messages, nextCursor } = await readConversation(conversationId, { branch, cursor });
    // Another conversation or branch may be shown meanwhile.
    if (this.#earlier !== earlier) return;
    this.#branch.prepend(messages, viewOf);
    this.#offer(nextCursor === null ? null : { ...earlier, cursor: nextCursor });
  }
}
