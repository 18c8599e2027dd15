// The open conversation: shows it, sends messages, follows a running answer and restores unsent messages.

import { AnswerView } from "../answer/answer.ts";
import { References } from "../answer/references.ts";
import { errorText, truncate } from "../answer/strings.ts";
import { ApiError } from "../api/client.ts";
import type { Conversation, Message } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { button, byId, el } from "../view/dom.ts";
import { hideToast, showError } from "../view/toast.ts";
import type { Composer } from "./composer.ts";
import { readFullConversation } from "./history.ts";
import type { Picker } from "./picker.ts";
import { Thread, userElement } from "./thread.ts";
import { Turn, type TurnEnd } from "./turn.ts";

/** The delay before a conversation is reloaded whose running answer cannot be read. */
const RELOAD_DELAY_MS = 2000;

/** What the list and the title show of the open conversation. */
export interface ChatListeners {
  onStarted: (started: { id: string; title: string | undefined; visible: boolean }) => void;
  onTitle: (id: string, title: string) => void;
  onOpened: (conversation: Conversation) => void;
  onChanged: (id: string | null) => void;
  onNew: () => void;
}

type OnError = (error: ApiError) => void;

/** What `#run` calls. */
interface RunListeners {
  onStart: () => void;
  onEnd: (end: TurnEnd) => void;
  onRejected: OnError;
}

interface Unsent {
  turn: Turn;
  conversationId: string | null;
  text: string;
  user: HTMLElement;
}

interface ShownAnswer {
  view: AnswerView;
  running: boolean;
  messageId: string;
}

/** The main view. */
export class Chat {
  /** The id of the open conversation; null before it has one. */
  id: string | null = null;
  #loadAbort = new AbortController();
  #turn: Turn | null = null;
  #running = new Map<string | null, Turn>();
  /** What the answers of the open conversation can refer to. */
  #references = new References();
  #thread = new Thread();
  #composer: Composer | null = null;
  #picker: Picker;
  #listeners: ChatListeners;
  #loadFailed = false;

  constructor(picker: Picker, listeners: ChatListeners) {
    this.#picker = picker;
    this.#listeners = listeners;
  }

  /** Connects the composer, whose callbacks need this object. */
  use(composer: Composer): void {
    this.#composer = composer;
  }

  /** Shows a conversation; null shows a new one. A turn of the previous conversation continues. */
  async open(id: string | null): Promise<void> {
    hideToast();
    this.#loadAbort.abort();
    this.id = id;
    this.#turn = this.#running.get(id) ?? null;
    this.#references = this.#turn?.view.references ?? new References();
    byId("welcome").hidden = id !== null;
    this.#thread.clear();
    this.#composer?.open(id);
    this.#composer?.setBusy(this.#turn !== null);
    this.#composer?.focus();
    this.#picker.select(null);
    if (id === null) return;
    this.#thread.loading();
    await this.#load((error) => this.#showLoadError(error));
  }

  /** Loads the open conversation again if loading it has failed. */
  async retry(): Promise<void> {
    if (this.#loadFailed && this.id !== null) await this.open(this.id);
  }

  /** Shows what another page changed in the open conversation. */
  async refresh(): Promise<void> {
    if (this.id !== null && this.#turn === null) await this.#load(() => {});
  }

  /** Sends a text as the next message. */
  async send(text: string): Promise<void> {
    hideToast();
    const conversationId = this.id;
    const [user, view] = [userElement(text), this.#createView()];
    const choice = { agentId: this.#picker.agent, modelType: this.#picker.model };
    const turn = Turn.fromMessage({ text, conversationId, ...choice, view });
    byId("welcome").hidden = true;
    if (conversationId === null) this.#thread.clear();
    this.#thread.add(user, view.element);
    turn.user = user;
    view.showStatus(t.chat.waiting);
    await this.#run(turn, {
      onStart: () => this.#onStart(turn, conversationId, text),
      onEnd: (end) => this.#onEnd(turn, end),
      onRejected: (error) => this.#restoreUnsent({ turn, conversationId, text, user }, error),
    });
  }

  /** Regenerates the last answer and shows the new one in its position. */
  async regenerate(old: AnswerView): Promise<void> {
    const conversationId = this.id;
    if (this.#turn !== null || conversationId === null) return;
    hideToast();
    const view = this.#createView();
    const turn = Turn.regeneration({ conversationId, modelType: this.#picker.model, view });
    view.showStatus(t.chat.waiting);
    old.element.replaceWith(view.element);
    await this.#run(turn, {
      onStart: () => this.#onStart(turn, conversationId, ""),
      onEnd: (end) => this.#onEnd(turn, end),
      onRejected: (error) => {
        view.element.replaceWith(old.element);
        showError(error);
      },
    });
    // After an error the server keeps the previous answer.
    if (turn.error && this.id === turn.conversationId) {
      await this.#load(showError);
      showError(ApiError.ofEvent(turn.error));
    }
  }

  /** Stops the running turn. */
  stop(): void {
    this.#turn?.stop().catch((error: unknown) => showError(ApiError.from(error)));
  }

  /** Runs a turn to its end; calls `onRejected` with the error if it never started. */
  async #run(turn: Turn, { onStart, onEnd, onRejected }: RunListeners): Promise<void> {
    this.#turn = turn;
    this.#thread.follow();
    this.#composer?.setBusy(true);
    try {
      const onTitle = (title: string) => this.#listeners.onTitle(turn.conversationId ?? "", title);
      const end = await turn.run({ onStart, onTitle });
      this.#finish(turn);
      this.#listeners.onChanged(turn.conversationId);
      onEnd(end);
      if (turn.stoppedRemotely && this.id === turn.conversationId) {
        await this.#load((error) => this.#showLoadError(error));
      }
    } catch (error) {
      this.#finish(turn);
      onRejected(ApiError.from(error));
    }
  }

  #createView(): AnswerView {
    return new AnswerView({
      onRetry: (view) => void this.regenerate(view),
      onReload: (view) => void this.#load(showError, { note: null, keep: view }),
      references: this.#references,
    });
  }

  #onStart(turn: Turn, origin: string | null, text: string): void {
    const id = turn.conversationId ?? "";
    const visible = this.#turn === turn;
    this.#running.set(id, turn);
    if (visible && origin === null) {
      this.id = id;
      this.#composer?.assignTo(id);
    }
    const title = origin === null ? truncate(text.trim().split("\n")[0] ?? "", 60) : undefined;
    this.#listeners.onStarted({ id, title, visible });
  }

  /** Puts a rejected message back into the composer of its conversation and shows the error. */
  #restoreUnsent({ turn, conversationId, text, user }: Unsent, error: ApiError): void {
    const visible = turn.view.element.isConnected;
    user.remove();
    turn.view.element.remove();
    this.#composer?.restore(conversationId, text);
    byId("welcome").hidden = this.id !== null;
    showError(error, {
      extra: visible ? t.chat.backInBox : t.chat.backInItsBox,
      action: visible ? this.#actionAfter(error, conversationId) : null,
    });
  }

  #actionAfter(error: ApiError, conversationId: string | null): { label: string; run: () => void } | null {
    if (error.status === 404 && conversationId !== null) {
      return { label: t.chat.startNew, run: () => this.#moveDraftToNew(conversationId) };
    }
    return error.retryable ? { label: t.chat.sendAgain, run: () => this.#composer?.submit() } : null;
  }

  /** Opens a new conversation with the draft of one that is gone. */
  #moveDraftToNew(gone: string): void {
    const draft = this.#composer?.takeDraft(gone) ?? "";
    if (draft !== "") this.#composer?.restore(null, draft);
    this.#listeners.onNew();
  }

  #onEnd(turn: Turn, end: TurnEnd): void {
    if (end === "complete") return;
    turn.view.showDisconnected(t.chat.lost);
    if (this.id === turn.conversationId) void this.#load(showError, { note: t.chat.reloaded, keep: turn.view });
  }

  #finish(turn: Turn): void {
    if (this.#running.get(turn.conversationId) === turn) this.#running.delete(turn.conversationId);
    if (this.#turn !== turn) return;
    this.#turn = null;
    this.#composer?.setBusy(false);
    this.#composer?.focus();
  }

  /**
   * Loads the conversation and replaces the shown messages.
   *
   * `note` is shown below the last answer. `keep` is the view of an interrupted answer, which stays if the stored answer is
   * shorter.
   */
  async #load(onError: OnError, options: { note: string | null; keep: AnswerView | null } = { note: null, keep: null }): Promise<void> {
    this.#loadAbort.abort();
    this.#loadAbort = new AbortController();
    const { signal } = this.#loadAbort;
    this.#loadFailed = false;
    try {
      const stored = await readFullConversation(this.id ?? "");
      if (!signal.aborted) this.#show(stored, options, signal);
    } catch (thrown) {
      const error = ApiError.from(thrown);
      if (signal.aborted) return;
      this.#loadFailed = error.status !== 404;
      onError(error);
    }
  }

  #show(
    { conversation, messages }: { conversation: Conversation; messages: Message[] },
    { note, keep }: { note: string | null; keep: AnswerView | null },
    signal: AbortSignal,
  ): void {
    this.#thread.clear();
    let last: ShownAnswer | null = null;
    for (const message of messages) {
      if (message.role === "user") this.#thread.add(userElement(message.content ?? ""));
      else last = this.#showAnswer(message, keep);
    }
    if (this.#turn && last?.view !== this.#turn.view) {
      this.#thread.add(...(this.#turn.user ? [this.#turn.user] : []), this.#turn.view.element);
    }
    if (note && last?.view !== keep) last?.view.showNote(note);
    if (last?.running) void this.#follow(last, signal);
    this.#thread.follow();
    this.#picker.select(conversation.model);
    this.#listeners.onOpened(conversation);
  }

  /** Shows a stored answer, or the live view if its turn is running on this page, or a longer text of this page. */
  #showAnswer(message: Message, keep: AnswerView | null): ShownAnswer {
    const live = this.#turn?.messageId === message.id ? this.#turn.view : null;
    const view = live ?? this.#createView();
    const running = live === null && view.showStored(message);
    if (!running && keep?.messageId === message.id && keep.text.length > view.text.length) {
      keep.showNote(t.chat.unsaved);
      this.#thread.add(keep.element);
      return { view: keep, running: false, messageId: message.id };
    }
    this.#thread.add(view.element);
    return { view, running, messageId: message.id };
  }

  /** Follows a running answer that another page or client started. */
  async #follow({ view, messageId }: ShownAnswer, signal: AbortSignal): Promise<void> {
    const turn = Turn.attach({ conversationId: this.id ?? "", messageId, view });
    this.#running.set(turn.conversationId, turn);
    await this.#run(turn, {
      onStart: () => {},
      onEnd: (end) => {
        if (end !== "complete") void this.#reloadLater(turn, end, signal);
      },
      onRejected: (error) => this.#showLoadError(error),
    });
  }

  /** Reloads the conversation after a delay: an answer without a stream may have ended in the meantime. */
  async #reloadLater(turn: Turn, end: TurnEnd, signal: AbortSignal): Promise<void> {
    if (end === "disconnected") turn.view.showDisconnected(t.chat.lost);
    await new Promise((resolve) => {
      setTimeout(resolve, RELOAD_DELAY_MS);
    });
    if (signal.aborted || this.#turn !== null) return;
    await this.#load((error) => (error.status === 404 ? this.#showLoadError(error) : showError(error)));
  }

  /** Shows why the conversation cannot be read. A message to one that is gone begins a new one. */
  #showLoadError(error: ApiError): void {
    const missing = error.status === 404;
    const text = missing ? t.chat.gone : errorText(error);
    const action = missing
      ? button(t.chat.startNew, () => this.#listeners.onNew(), { iconName: "new" })
      : button(t.retry, () => void this.open(this.id), { iconName: "reload" });
    this.#thread.clear();
    this.#thread.add(el("div", { class: "load-error", role: "alert" }, el("p", {}, text), action));
    if (missing) this.id = null;
  }
}
