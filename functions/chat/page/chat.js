// The open conversation: shows it, sends messages, follows a running answer and restores unsent messages.

import { AnswerView } from "./answer.js";
import { byId, button, el } from "./dom.js";
import { readFullConversation } from "./history.js";
import { hideToast, showError } from "./toast.js";
import { Thread, userElement } from "./thread.js";
import { Turn } from "./turn.js";
import { errorText, truncate } from "./strings.js";

const DISCONNECTED = "Interrupted: the connection to the server was lost.";
const RELOADED =
  "Interrupted: the connection was lost while you were reading. This is the answer as the server has it.";

/** The button that loads the stored answer after a lost connection. */
const LOAD_LABEL = "Load what the server has";

/** The delay before a conversation is reloaded whose running answer cannot be read. */
const RELOAD_DELAY_MS = 2000;

/** The main view; it notifies `listeners` of changes that the list and the title show. */
export class Chat {
  /** The id of the open conversation; null before it has one. */
  id = null;
  #loadAbort = new AbortController();
  #turn = null;
  #running = new Map();
  /** The sources of the open conversation by number. */
  #sources = new Map();
  #thread = new Thread();
  #composer;
  #agents;
  #models;
  #listeners;

  constructor({ agents, models, listeners }) {
    this.#agents = agents;
    this.#models = models;
    this.#listeners = listeners;
  }

  /** Connects the composer, whose callbacks need this object. */
  use(composer) {
    this.#composer = composer;
  }

  /** Shows a conversation; null shows a new one. A turn of the previous conversation continues. */
  async open(id) {
    hideToast();
    this.#loadAbort.abort();
    this.id = id;
    this.#turn = this.#running.get(id) ?? null;
    this.#sources = this.#turn?.view.conversationSources ?? new Map();
    byId("welcome").hidden = id !== null;
    this.#thread.clear();
    this.#composer.open(id);
    this.#composer.setBusy(this.#turn !== null);
    this.#composer.focus();
    this.#models.select(null);
    if (id === null) return;
    this.#thread.loading();
    await this.#load((error) => this.#showLoadError(error));
  }

  /** Sends a text as the next message. */
  async send(text) {
    hideToast();
    const conversationId = this.id;
    const [agentId, modelType] = [this.#agents.selected, this.#models.selected];
    const [user, view] = [userElement(text), this.#createView()];
    const turn = Turn.fromMessage({ text, conversationId, agentId, modelType, view });
    byId("welcome").hidden = true;
    this.#thread.add(user, view.element);
    turn.user = user;
    view.showStatus("Waiting for the model…");
    await this.#run(turn, {
      onStart: () => this.#onStart(turn, conversationId, text),
      onEnd: (end) => this.#onEnd(turn, end),
      onRejected: (error) => this.#restoreUnsent({ turn, conversationId, text, user }, error),
    });
  }

  /** Regenerates the last answer and shows the new one in its position. */
  async regenerate(old) {
    if (this.#turn !== null) return;
    hideToast();
    const view = this.#createView();
    const turn = Turn.regeneration({ conversationId: this.id, modelType: this.#models.selected, view });
    view.showStatus("Waiting for the model…");
    old.element.replaceWith(view.element);
    await this.#run(turn, {
      onStart: () => this.#onStart(turn, this.id, ""),
      onEnd: (end) => this.#onEnd(turn, end),
      onRejected: (error) => {
        view.element.replaceWith(old.element);
        showError(error);
      },
    });
    // After an error the server keeps the previous answer.
    if (turn.error && this.id === turn.conversationId) {
      await this.#load((error) => showError(error));
      showError({ ...turn.error, retryAfter: turn.error.retryAfterSeconds ?? 0 });
    }
  }

  /** Stops the running turn. */
  stop() {
    this.#turn?.stop().catch((error) => showError(error));
  }

  /** Runs a turn to its end; calls `onRejected` with the error if it never started. */
  async #run(turn, { onStart, onEnd, onRejected }) {
    this.#turn = turn;
    this.#thread.follow();
    this.#composer.setBusy(true);
    try {
      const end = await turn.run({
        onStart,
        onTitle: (title) => this.#listeners.onTitle(turn.conversationId, title),
      });
      this.#finish(turn);
      this.#listeners.onChanged();
      onEnd(end);
      if (turn.stoppedRemotely && this.id === turn.conversationId) {
        await this.#load((error) => this.#showLoadError(error));
      }
    } catch (error) {
      this.#finish(turn);
      onRejected(error);
    }
  }

  #createView() {
    return new AnswerView({
      onRetry: (view) => this.regenerate(view),
      onReload: () => this.#load((error) => showError(error)),
      conversationSources: this.#sources,
    });
  }

  #onStart(turn, origin, text) {
    const id = turn.conversationId;
    const visible = this.#turn === turn;
    this.#running.set(id, turn);
    if (visible && origin === null) {
      this.id = id;
      this.#composer.assignTo(id);
    }
    const title = origin === null ? truncate(text.trim().split("\n")[0], 60) : undefined;
    this.#listeners.onStarted({ id, title, visible });
  }

  /** Puts a rejected message back into the composer of its conversation and shows the error. */
  #restoreUnsent({ turn, conversationId, text, user }, error) {
    const visible = turn.view.element.isConnected;
    user.remove();
    turn.view.element.remove();
    this.#composer.restore(conversationId, text);
    byId("welcome").hidden = this.id !== null;
    showError(error, {
      extra: visible ? "Your message is back in the box." : "Your message is back in the box of its conversation.",
      action: visible && error.retryable ? { label: "Send again", run: () => this.#composer.submit() } : null,
    });
  }

  #onEnd(turn, end) {
    if (end === "complete") return;
    turn.view.showDisconnected(DISCONNECTED, LOAD_LABEL);
    if (this.id === turn.conversationId) this.#load((error) => showError(error), RELOADED);
  }

  #finish(turn) {
    if (this.#running.get(turn.conversationId) === turn) this.#running.delete(turn.conversationId);
    if (this.#turn !== turn) return;
    this.#turn = null;
    this.#composer.setBusy(false);
    this.#composer.focus();
  }

  /** Loads the conversation and replaces the shown messages; `note` is shown below the last answer. */
  async #load(onError, note = null) {
    this.#loadAbort.abort();
    this.#loadAbort = new AbortController();
    const { signal } = this.#loadAbort;
    try {
      const stored = await readFullConversation(this.id);
      if (!signal.aborted) this.#show(stored, note, signal);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  #show({ conversation, messages }, note, signal) {
    this.#thread.clear();
    let last = null;
    for (const message of messages) {
      if (message.role === "user") this.#thread.add(userElement(message.content));
      else last = this.#showAnswer(message);
    }
    if (this.#turn && last?.view !== this.#turn.view) this.#thread.add(this.#turn.user ?? [], this.#turn.view.element);
    if (note) last?.view.showNote(note);
    if (last?.running) this.#follow(last, signal);
    this.#thread.follow();
    this.#models.select(conversation.model);
    this.#listeners.onOpened(conversation);
  }

  /** Shows a stored answer, or the live view if its turn is running on this page. */
  #showAnswer(message) {
    const live = this.#turn?.messageId === message.id;
    const view = live ? this.#turn.view : this.#createView();
    const running = !live && view.showStored(message);
    this.#thread.add(view.element);
    return { view, running, messageId: message.id };
  }

  /** Follows a running answer that another page or client started. */
  async #follow({ view, messageId }, signal) {
    const turn = Turn.attach({ conversationId: this.id, messageId, view });
    this.#running.set(turn.conversationId, turn);
    await this.#run(turn, {
      onStart: () => {},
      onEnd: (end) => end === "complete" || this.#reloadLater(turn, end, signal),
      onRejected: (error) => this.#showLoadError(error),
    });
  }

  /** Reloads the conversation after a delay: an answer without a stream may have ended in the meantime. */
  async #reloadLater(turn, end, signal) {
    if (end === "disconnected") turn.view.showDisconnected(DISCONNECTED, LOAD_LABEL);
    await new Promise((resolve) => {
      setTimeout(resolve, RELOAD_DELAY_MS);
    });
    if (signal.aborted || this.#turn !== null) return;
    await this.#load((error) => (error.status === 404 ? this.#showLoadError(error) : showError(error)));
  }

  #showLoadError(error) {
    const missing = error.status === 404;
    const text = missing ? "There is no such conversation. It may have been deleted." : errorText(error);
    const retry = missing ? [] : [button("Try again", () => this.open(this.id), { iconName: "reload" })];
    this.#thread.clear();
    this.#thread.add(el("div", { class: "load-error", role: "alert" }, el("p", {}, text), retry));
  }
}
