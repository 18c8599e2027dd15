// The conversation on the page: shows it, sends to it, follows its running answer, and gives back what could not be sent.

import { AnswerView } from "./answer.js";
import { byId, button, el } from "./dom.js";
import { followMessage, readAll } from "./history.js";
import { hideNotice, showError } from "./notice.js";
import { Thread, userElement } from "./thread.js";
import { Turn } from "./turn.js";
import { errorWords, shortened } from "./words.js";

const STOPPED = "You stopped reading. The server still finishes this answer and keeps it.";
const CUT = "Interrupted: the connection to the server was lost.";
const RELOADED =
  "Interrupted: the connection was lost while you were reading. This is the answer as the server has it.";

/** What the page shows beside the list; `listeners` are told what the list and the title must know. */
export class Chat {
  /** The id of the open conversation; null before it has one. */
  id = null;
  #visit = new AbortController();
  #turn = null;
  #running = new Map();
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

  /** Connects the composer, which needs this to exist. */
  use(composer) {
    this.#composer = composer;
  }

  /** Shows a conversation; null shows an empty one. A turn that runs in the one before goes on. */
  async open(id) {
    hideNotice();
    this.#visit.abort();
    this.id = id;
    this.#turn = this.#running.get(id) ?? null;
    byId("welcome").hidden = id !== null;
    this.#thread.clear();
    this.#composer.open(id);
    this.#composer.busy(this.#turn !== null);
    this.#composer.focus();
    this.#models.show(null);
    if (id === null) return;
    this.#thread.loading();
    await this.#load((error) => this.#trouble(error));
  }

  /** Sends a text as the next message. */
  async send(text) {
    hideNotice();
    const home = this.id;
    const turn = this.#begin(text);
    try {
      const end = await turn.run({
        onStart: () => this.#started(turn, home),
        onTitle: (title) => this.#listeners.onTitle(turn.conversationId, title),
      });
      this.#ended(turn, end);
    } catch (error) {
      this.#refused(turn, home, error);
    }
  }

  /** Stops reading the answer that is being read. */
  stop() {
    this.#turn?.stop();
  }

  #begin(text) {
    const view = this.#view(text);
    view.waiting("Waiting for the model…");
    const user = userElement(text);
    const [agentId, modelType] = [this.#agents.selected, this.#models.selected];
    this.#turn = new Turn({ text, conversationId: this.id, agentId, modelType, view, user });
    byId("welcome").hidden = true;
    this.#thread.add(user, view.element);
    this.#thread.follow();
    this.#composer.busy(true);
    return this.#turn;
  }

  /** A view of the answer to a question. */
  #view(question) {
    return new AnswerView({
      onRetry: () => {
        if (this.#turn === null) this.send(question);
      },
      onReload: () => this.#load((error) => showError(error)),
    });
  }

  #started(turn, home) {
    const id = turn.conversationId;
    const visible = this.#turn === turn;
    this.#running.set(id, turn);
    if (visible && home === null) {
      this.id = id;
      this.#composer.becomes(id);
    }
    const title = home === null ? shortened(turn.text.trim().split("\n")[0], 60) : undefined;
    this.#listeners.onStarted({ id, title, visible });
  }

  /** Nothing was answered: the text goes back to where it was written, and the reason is said. */
  #refused(turn, home, error) {
    const visible = this.#turn === turn;
    turn.user.remove();
    turn.view.element.remove();
    this.#composer.restore(home, turn.text);
    this.#finish(turn);
    byId("welcome").hidden = this.id !== null;
    showError(error, {
      extra: visible ? "Your message is back in the box." : "Your message is back in the box of its conversation.",
      action: visible && error.retryable ? { words: "Send again", run: () => this.#composer.submit() } : null,
    });
  }

  #ended(turn, end) {
    this.#finish(turn);
    this.#listeners.onChanged();
    if (end === "stopped") turn.view.unread(STOPPED, "Show the whole answer");
    if (end !== "cut") return;
    turn.view.unread(CUT, "Load what the server has");
    if (this.id === turn.conversationId) this.#load((error) => showError(error), RELOADED);
  }

  #finish(turn) {
    this.#running.delete(turn.conversationId);
    if (this.#turn !== turn) return;
    this.#turn = null;
    this.#composer.busy(false);
    this.#composer.focus();
  }

  /** Reads the conversation and shows it; `remark` is said about its last answer. What is shown stays until it is read. */
  async #load(onTrouble, remark = null) {
    this.#visit.abort();
    this.#visit = new AbortController();
    const { signal } = this.#visit;
    try {
      const stored = await readAll(this.id);
      if (!signal.aborted) this.#show(stored, remark, signal);
    } catch (error) {
      if (!signal.aborted) onTrouble(error);
    }
  }

  #show({ conversation, messages, cursor }, remark, signal) {
    this.#thread.clear();
    let question = "";
    let last = null;
    for (const message of messages) {
      if (message.role === "user") {
        question = message.content;
        this.#thread.add(userElement(question));
      } else last = this.#showAnswer(message, question);
    }
    if (this.#turn && last?.view !== this.#turn.view) this.#thread.add(this.#turn.user, this.#turn.view.element);
    if (remark) last?.view.remark(remark);
    if (last?.running) this.#follow(last, cursor, signal);
    this.#thread.follow();
    this.#models.show(conversation.model);
    this.#listeners.onOpened(conversation);
  }

  /** Shows a stored answer, or the live view of the one that is being read. */
  #showAnswer(message, question) {
    const live = this.#turn?.messageId === message.id;
    const view = live ? this.#turn.view : this.#view(question);
    const running = !live && view.show(message);
    this.#thread.add(view.element);
    return { view, running, messageId: message.id };
  }

  async #follow({ view, messageId }, cursor, signal) {
    const following = followMessage({
      id: this.id,
      cursor,
      messageId,
      signal,
      onMessage: (message) => view.show(message),
      onTrouble: (error) => view.waiting(`${errorWords(error)} Trying again…`),
    });
    await following.catch((error) => this.#trouble(error));
    if (!signal.aborted) this.#listeners.onChanged();
  }

  #trouble(error) {
    const gone = error.status === 404;
    const words = gone ? "There is no such conversation. It may have been deleted." : errorWords(error);
    const again = gone ? [] : [button("Try again", () => this.open(this.id), { name: "reload" })];
    this.#thread.clear();
    this.#thread.add(el("div", { class: "trouble", role: "alert" }, el("p", {}, words), again));
  }
}
