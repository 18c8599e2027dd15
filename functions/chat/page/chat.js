// The conversation on the page: shows it, sends to it, follows its running answer, and gives back what could not be sent.

import { AnswerView } from "./answer.js";
import { byId, button, el } from "./dom.js";
import { readAll } from "./history.js";
import { hideNotice, showError } from "./notice.js";
import { Thread, userElement } from "./thread.js";
import { Turn } from "./turn.js";
import { errorWords, shortened } from "./words.js";

const CUT = "Interrupted: the connection to the server was lost.";
const RELOADED =
  "Interrupted: the connection was lost while you were reading. This is the answer as the server has it.";

/** A running answer of which nothing can be read is looked for again after this, in milliseconds. */
const PAUSE = 2000;

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
    const [agentId, modelType] = [this.#agents.selected, this.#models.selected];
    const [user, view] = [userElement(text), this.#view()];
    const turn = Turn.asking({ text, conversationId: home, agentId, modelType, view });
    byId("welcome").hidden = true;
    this.#thread.add(user, view.element);
    turn.user = user;
    view.waiting("Waiting for the model…");
    await this.#drive(turn, {
      started: () => this.#started(turn, home, text),
      ended: (end) => this.#answered(turn, end),
      refused: (error) => this.#unsent({ turn, home, text, user }, error),
    });
  }

  /** Has the last message answered again, in the place of its answer. */
  async again(old) {
    if (this.#turn !== null) return;
    hideNotice();
    const view = this.#view();
    const turn = Turn.again({ conversationId: this.id, modelType: this.#models.selected, view });
    view.waiting("Waiting for the model…");
    old.element.replaceWith(view.element);
    await this.#drive(turn, {
      started: () => this.#started(turn, this.id, ""),
      ended: (end) => this.#answered(turn, end),
      refused: (error) => {
        view.element.replaceWith(old.element);
        showError(error);
      },
    });
    // Where nothing new came about, the answer before is the answer.
    if (turn.error && this.id === turn.conversationId) {
      await this.#load((error) => showError(error));
      showError({ ...turn.error, retryAfter: turn.error.retryAfterSeconds ?? 0 });
    }
  }

  /** Stops the answer that is being written. */
  stop() {
    this.#turn?.stop().catch((error) => showError(error));
  }

  /** Reads a turn to its end; `refused` is told why it never began. */
  async #drive(turn, { started, ended, refused }) {
    this.#turn = turn;
    this.#thread.follow();
    this.#composer.busy(true);
    try {
      const end = await turn.run({
        onStart: started,
        onTitle: (title) => this.#listeners.onTitle(turn.conversationId, title),
      });
      this.#finish(turn);
      this.#listeners.onChanged();
      ended(end);
      if (turn.stoppedElsewhere && this.id === turn.conversationId) await this.#load((error) => this.#trouble(error));
    } catch (error) {
      this.#finish(turn);
      refused(error);
    }
  }

  #view() {
    return new AnswerView({
      onRetry: (view) => this.again(view),
      onReload: () => this.#load((error) => showError(error)),
    });
  }

  #started(turn, home, text) {
    const id = turn.conversationId;
    const visible = this.#turn === turn;
    this.#running.set(id, turn);
    if (visible && home === null) {
      this.id = id;
      this.#composer.becomes(id);
    }
    const title = home === null ? shortened(text.trim().split("\n")[0], 60) : undefined;
    this.#listeners.onStarted({ id, title, visible });
  }

  /** Nothing was answered: the text goes back to where it was written, and the reason is said. */
  #unsent({ turn, home, text, user }, error) {
    const visible = turn.view.element.isConnected;
    user.remove();
    turn.view.element.remove();
    this.#composer.restore(home, text);
    byId("welcome").hidden = this.id !== null;
    showError(error, {
      extra: visible ? "Your message is back in the box." : "Your message is back in the box of its conversation.",
      action: visible && error.retryable ? { words: "Send again", run: () => this.#composer.submit() } : null,
    });
  }

  #answered(turn, end) {
    if (end === "ended") return;
    turn.view.unread(CUT, "Load what the server has");
    if (this.id === turn.conversationId) this.#load((error) => showError(error), RELOADED);
  }

  #finish(turn) {
    if (this.#running.get(turn.conversationId) === turn) this.#running.delete(turn.conversationId);
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

  #show({ conversation, messages }, remark, signal) {
    this.#thread.clear();
    let last = null;
    for (const message of messages) {
      if (message.role === "user") this.#thread.add(userElement(message.content));
      else last = this.#showAnswer(message);
    }
    if (this.#turn && last?.view !== this.#turn.view) this.#thread.add(this.#turn.user ?? [], this.#turn.view.element);
    if (remark) last?.view.remark(remark);
    if (last?.running) this.#follow(last, signal);
    this.#thread.follow();
    this.#models.show(conversation.model);
    this.#listeners.onOpened(conversation);
  }

  /** Shows a stored answer, or the live view of the one that is being read. */
  #showAnswer(message) {
    const live = this.#turn?.messageId === message.id;
    const view = live ? this.#turn.view : this.#view();
    const running = !live && view.show(message);
    this.#thread.add(view.element);
    return { view, running, messageId: message.id };
  }

  /** Follows an answer that was found running, wherever it was asked for. */
  async #follow({ view, messageId }, signal) {
    const turn = Turn.running({ conversationId: this.id, messageId, view });
    this.#running.set(turn.conversationId, turn);
    await this.#drive(turn, {
      started: () => {},
      ended: (end) => end === "ended" || this.#lookAgain(turn, end, signal),
      refused: (error) => this.#trouble(error),
    });
  }

  /** What can be read no further may have ended meanwhile. */
  async #lookAgain(turn, end, signal) {
    if (end === "cut") turn.view.unread(CUT, "Load what the server has");
    await new Promise((resolve) => {
      setTimeout(resolve, PAUSE);
    });
    if (signal.aborted || this.#turn !== null) return;
    await this.#load((error) => (error.status === 404 ? this.#trouble(error) : showError(error)));
  }

  #trouble(error) {
    const gone = error.status === 404;
    const words = gone ? "There is no such conversation. It may have been deleted." : errorWords(error);
    const again = gone ? [] : [button("Try again", () => this.open(this.id), { name: "reload" })];
    this.#thread.clear();
    this.#thread.add(el("div", { class: "trouble", role: "alert" }, el("p", {}, words), again));
  }
}
