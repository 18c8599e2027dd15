// The open conversation: shows it, sends messages, follows a running answer and restores unsent messages.

import { AnswerView } from "../answer/answer.ts";
import { References } from "../answer/references.ts";
import { truncate } from "../answer/strings.ts";
import { ApiError, readConversation, selectBranch, type AnswerAction, type MessagePage } from "../api/client.ts";
import type { Attachment } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { confirmDeletion } from "../parts/use.ts";
import { chosen, restoreAgent, selectModel } from "../state/choice.ts";
import { recordChange, recordConversation, recordStart, recordTitle } from "../state/lists.ts";
import { isTemporary, openId, startNew } from "../state/open.ts";
import { hideToast, showError } from "../view/toast.ts";
import { Branch, type MessageView } from "./branch.ts";
import type { Composer } from "./composer.ts";
import { offerFollowUps } from "./follow-ups.ts";
import { History } from "./history.ts";
import { loadErrorElement } from "./load-error.ts";
import { Outgoing } from "./outgoing.ts";
import { QuestionView } from "./question.ts";
import { Thread } from "./thread.ts";
import { Turn, type OutgoingMessage, type TurnEnd } from "./turn.ts";
import { Turns } from "./turns.ts";
import { addVersion, MessageViews } from "./views.ts";

/** The delay before a conversation is reloaded whose running answer cannot be read. */
const RELOAD_DELAY_MS = 2000;

/** How a loaded page is shown. */
interface ShowOptions {
  /** A note below the last answer. */
  note?: string | null;
  /** The view of an interrupted answer, which stays if the stored answer is shorter. */
  keep?: AnswerView | null;
  /** Whether to scroll to the end, or to the message that the address names. */
  scroll?: boolean;
}

/** The main view. */
export class Chat {
  /** The message that the address names, whose branch is shown. */
  #messageId: string | null = null;
  #turns: Turns;
  #outgoing = new Outgoing();
  #thread = new Thread();
  #branch = new Branch(this.#thread);
  #history = new History(this.#thread, this.#branch);
  #views = new MessageViews({
    onRegenerate: (view) => void this.#regenerate(view),
    onContinue: (view) => void this.#continue(view),
    onReload: (view) => void this.#load(showError, { keep: view }),
    onDelete: (view) => void this.#delete(view),
    onSelect: (view, messageId) => void this.#select(view, messageId),
    onEdit: (view) => void (this.#identified = this.#identify(view)),
    onSend: (view, edited) => this.#sendEdited(view, edited),
  });
  #composer: Composer | null = null;
  #loadFailed = false;
  /** Ends when the ids of the message that is edited are known. */
  #identified = Promise.resolve();

  constructor() {
    this.#turns = new Turns({
      onBusy: (busy) => this.#composer?.setBusy(busy),
      onTitle: recordTitle,
      onEnded: ({ conversationId, stoppedRemotely }) => {
        recordChange(conversationId);
        if (stoppedRemotely && this.id === conversationId) void this.#load(this.#showLoadError);
      },
    });
  }

  /** The id of the open conversation; null before it has one. */
  get id(): string | null {
    return openId.value;
  }

  set id(id: string | null) {
    openId.value = id;
  }

  /** Connects the composer, whose callbacks need this object. */
  use(composer: Composer): void {
    this.#composer = composer;
    composer.onRecall = () => this.#branch.editLast();
  }

  /** Shows a conversation, at a message if one is given, or a new one for null. A running turn of the previous one continues. */
  async open(id: string | null, messageId: string | null = null): Promise<void> {
    hideToast();
    this.#history.begin();
    this.id = id;
    isTemporary.value = false;
    restoreAgent();
    this.#messageId = messageId;
    const turn = this.#turns.open(id);
    this.#views.references = turn?.view.references ?? new References();
    this.#history.clear();
    this.#composer?.open(id);
    this.#composer?.setBusy(turn !== null);
    this.#composer?.focus();
    selectModel(null);
    if (id === null) return;
    this.#thread.loading();
    await this.#load(this.#showLoadError, { scroll: true });
  }

  /** Loads the open conversation again if loading it has failed. */
  async retry(): Promise<void> {
    if (!this.#loadFailed || this.id === null) return;
    const last = this.#branch.views.at(-1);
    // What is on the page may be longer than what the server has.
    if (last) await this.#load(showError, { keep: last instanceof AnswerView ? last : null });
    else await this.open(this.id, this.#messageId);
  }

  /** Shows what another page changed in the open conversation. */
  async refresh(): Promise<void> {
    if (this.id === null || this.#turns.current !== null) return;
    await this.#load((error) => {
      if (error.status === 404) this.#showLoadError(error);
    });
  }

  /** Sends a text, with files, as the next message. */
  send(text: string, attachments: Attachment[] = []): Promise<void> {
    // The message goes where the user sees it, also if other clients show another branch.
    const parentId = this.#messageId === null ? undefined : this.#branch.views.at(-1)?.messageId;
    return this.#send(this.#messageOf(text, { attachments, ...(parentId && { parentId }) }));
  }

  #messageOf(text: string, more: Pick<OutgoingMessage, "attachments" | "parentId">): OutgoingMessage {
    const temporary = isTemporary.value && this.id === null;
    return { text, conversationId: this.id, ...chosen(), temporary, ...more };
  }

  /** Sends the messages again that a sign-in interrupted; those that it may not `repeat` go back into the box. */
  resume(repeat: boolean): void {
    for (const message of this.#outgoing.takeInterrupted()) {
      if (repeat && message.conversationId === this.id && this.#turns.current === null) void this.#send({ ...message, repeated: true });
      else this.#composer?.restore(message.conversationId, message.text, message.attachments);
    }
  }

  async #send(message: OutgoingMessage): Promise<void> {
    hideToast();
    const { text, attachments, conversationId, parentId } = message;
    // A load that began before would show the branch that this message leaves.
    if (parentId !== undefined) this.#history.begin();
    const { views } = this.#branch;
    const from = conversationId === null ? 0 : parentId === undefined ? views.length : this.#branch.after(parentId);
    const user = this.#views.question({ content: text, attachments, parentId: parentId ?? views[from - 1]?.messageId });
    const view = this.#views.answer();
    const turn = Turn.fromMessage(message, view);
    this.#outgoing.add(message);
    this.#messageId = null;
    const removed = this.#branch.replace(from, user, view);
    if (removed[0] instanceof QuestionView) addVersion(user, removed[0]);
    turn.user = user;
    this.#thread.begin(user.element);
    view.showStatus(t.chat.waiting);
    await this.#turns.run(turn, {
      onStart: () => {
        this.#outgoing.delete(message);
        this.#onStart(turn, conversationId, text, message.temporary);
      },
      onEnd: (end) => this.#onEnd(turn, end),
      onRejected: (error) => {
        const visible = this.#branch.views[from + 1] === view;
        if (visible) this.#branch.replace(from, ...removed);
        this.#outgoing.restore({ message, error, replaced: removed[0] ?? null, visible }, this.#composer);
      },
    });
  }

  /** Answers again: the new answer is shown in the position of the other one, which stays as another version. */
  async #regenerate(old: AnswerView): Promise<void> {
    if (this.#isBusy()) return;
    this.#history.begin();
    const view = this.#views.answer();
    addVersion(view, old);
    const from = this.#branch.views.indexOf(old);
    const removed = this.#branch.replace(from, view);
    this.#thread.begin(this.#branch.views[from - 1]?.element ?? view.element);
    const turn = await this.#act("regenerate", view, old.messageId, () => {
      if (this.#branch.views[from] === view) this.#branch.replace(from, ...removed);
    });
    // After an error the server may show the previous answer.
    if (turn.error && this.id === turn.conversationId) {
      await this.#load(showError);
      showError(ApiError.ofEvent(turn.error));
    }
  }

  /** Lets the model continue an answer, which grows in its place. */
  async #continue(view: AnswerView): Promise<void> {
    if (this.#isBusy()) return;
    this.#thread.follow();
    await this.#act("continue", view, view.messageId, () => view.showStatus(""));
  }

  /** Runs a turn of an answer; `undo` is called if it never started. */
  async #act(action: AnswerAction, view: AnswerView, messageId: string | null, undo: () => void): Promise<Turn> {
    hideToast();
    const conversationId = this.id ?? "";
    const { modelType, search } = chosen();
    const turn = Turn.ofAnswer(action, { conversationId, messageId, modelType, search, view });
    view.showStatus(t.chat.waiting);
    await this.#turns.run(turn, {
      onStart: () => this.#onStart(turn, conversationId, ""),
      onEnd: (end) => this.#onEnd(turn, end),
      onRejected: (error) => {
        undo();
        showError(error);
      },
    });
    return turn;
  }

  /** Sends an edited question in the position of the other one. Returns whether it can be sent now. */
  #sendEdited(view: QuestionView, text: string): boolean {
    if (this.#isBusy()) return false;
    const { id } = this;
    const { attachments } = view;
    void this.#identified.then(() => {
      if (this.id === id && this.#turns.current === null) void this.#send(this.#messageOf(text, { attachments, parentId: view.parentId }));
      else this.#composer?.restore(id, text, attachments);
    });
    return true;
  }

  /** Shows another version of a message, and what follows it. */
  async #select(view: MessageView, messageId: string): Promise<void> {
    const id = this.id;
    if (this.#isBusy() || id === null) return;
    hideToast();
    const signal = this.#history.begin();
    try {
      const [, page] = await Promise.all([selectBranch(id, messageId), readConversation(id, { branch: messageId })]);
      if (signal.aborted) return;
      this.#messageId = null;
      const selected = () => this.#branch.find(messageId);
      const show = () => this.#show(page, {}, signal);
      this.#thread.hold(view.element, show, () => selected()?.element ?? view.element);
      selected()?.versions.focus(view.versions.at);
      recordChange(id);
    } catch (error) {
      if (!signal.aborted) showError(error);
    }
  }

  /** Deletes a message with all after it, after a confirmation. */
  async #delete(view: MessageView): Promise<void> {
    const id = this.id;
    if (this.#isBusy() || id === null) return;
    await this.#identify(view);
    const { views } = this.#branch;
    if (!views.includes(view) || !(await confirmDeletion(id, views.slice(views.indexOf(view))))) return;
    recordChange(id);
    if (this.id !== id) return;
    this.#messageId = null;
    this.#composer?.focus();
    await this.#load(this.#showLoadError);
  }

  /** Loads the id of a message that was sent from this page, and of its versions. */
  async #identify(view: MessageView): Promise<void> {
    if (view.messageId === null && this.#turns.current === null) await this.#load(showError);
  }

  /** Whether an answer is being written; shows it. */
  #isBusy(): boolean {
    if (this.#turns.current !== null) this.#composer?.showBusy();
    return this.#turns.current !== null;
  }

  /** Stops the running turn. */
  stop(): void {
    this.#turns.stop();
  }

  #onStart(turn: Turn, origin: string | null, text: string, temporary = false): void {
    const id = turn.conversationId ?? "";
    const visible = this.#turns.current === turn;
    this.#turns.add(turn);
    if (visible && origin === null) {
      this.id = id;
      this.#composer?.assignTo(id);
    }
    const title = origin === null ? truncate(text.trim().split("\n")[0] ?? "", 60) : undefined;
    recordStart({ id, title, visible, temporary });
  }

  #onEnd(turn: Turn, end: TurnEnd): void {
    if (end === "complete") return offerFollowUps(this.#branch, turn, () => this.#turns.current !== null, (text) => void this.send(text));
    turn.view.showDisconnected(t.chat.lost);
    if (this.id === turn.conversationId) void this.#load(showError, { note: t.chat.reloaded, keep: turn.view });
  }

  /** Loads the end of the conversation and shows it instead of the shown messages. */
  async #load(onError: (error: ApiError) => void, options: ShowOptions = {}): Promise<void> {
    const signal = this.#history.begin();
    this.#loadFailed = false;
    try {
      const page = await readConversation(this.id ?? "", { branch: this.#messageId });
      if (signal.aborted) return;
      this.#show(page, options, signal);
      if (options.scroll) await this.#history.scrollTo(this.#messageId, signal);
    } catch (thrown) {
      const error = ApiError.from(thrown);
      if (signal.aborted) return;
      this.#loadFailed = error.status !== 404;
      onError(error);
    }
  }

  #show(page: MessagePage, { note, keep = null, scroll = false }: ShowOptions, signal: AbortSignal): void {
    this.#history.show(page, this.#views.of({ turn: this.#turns.current, keep }));
    const last = this.#branch.views.at(-1);
    if (this.#turns.current && last !== this.#turns.current.view) {
      this.#branch.replace(this.#branch.views.length, ...(this.#turns.current.user ? [this.#turns.current.user] : []), this.#turns.current.view);
    }
    if (note && last instanceof AnswerView && last !== keep) last.showNote(note);
    if (page.messages.at(-1)?.status === "running" && last instanceof AnswerView && last !== this.#turns.current?.view) void this.#follow(last, signal);
    isTemporary.value = page.conversation.expiresAt !== undefined;
    if (scroll) selectModel(page.conversation.model);
    recordConversation(page.conversation);
  }

  /** Follows a running answer that another page or client started. */
  async #follow(view: AnswerView, signal: AbortSignal): Promise<void> {
    const turn = Turn.attach({ conversationId: this.id ?? "", messageId: view.messageId ?? "", view });
    this.#turns.add(turn);
    this.#thread.follow();
    await this.#turns.run(turn, {
      onStart: () => {},
      onEnd: (end) => {
        if (end !== "complete") void this.#reloadLater(turn, end, signal);
      },
      onRejected: this.#showLoadError,
    });
  }

  /** Reloads the conversation after a delay: an answer without a stream may have ended in the meantime. */
  async #reloadLater(turn: Turn, end: TurnEnd, signal: AbortSignal): Promise<void> {
    if (end === "disconnected") turn.view.showDisconnected(t.chat.lost);
    await new Promise((resolve) => setTimeout(resolve, RELOAD_DELAY_MS));
    if (signal.aborted || this.#turns.current !== null) return;
    await this.#load((error) => (error.status === 404 ? this.#showLoadError(error) : showError(error)));
  }

  /** Shows why the conversation cannot be read. A message to one that is gone begins a new one. */
  #showLoadError = (error: ApiError) => {
    this.#history.clear();
    this.#thread.show([loadErrorElement(error, { onNew: () => startNew(), onRetry: () => void this.open(this.id, this.#messageId) })]);
    if (error.status === 404) this.id = null;
  };
}
