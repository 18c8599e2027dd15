// The view of one answer: its parts, sources and end, from live events or from the stored message.

import { ApiError } from "../api/client.ts";
import type { Feedback, Message, ToolCall, ToolResult, TurnEvent } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { announce, button, copyFormatted, el, flash, icon, type Child } from "../view/dom.ts";
import type { Versions } from "../view/versions.ts";
import { countDown } from "./countdown.ts";
import { formattedExcerpt, plainExcerpt } from "./excerpt.ts";
import { AnswerFooter } from "./footer.ts";
import { AnswerParts } from "./parts.ts";
import type { References } from "./references.ts";
import { RenderScheduler } from "./render-scheduler.ts";
import { Sources } from "./sources.ts";
import { finishReasonText } from "./strings.ts";

/** The ends after which the model can continue an answer. */
const CONTINUABLE = new Set(["length", "stopped", "deadline", "interrupted"]);

/** What an answer needs of the conversation. */
export interface AnswerOptions {
  /** Answers again. */
  onRegenerate: (view: AnswerView) => void;
  /** Lets the model continue the answer. */
  onContinue: (view: AnswerView) => void;
  /** Deletes the answer and all after it. */
  onDelete: (view: AnswerView) => void;
  /** Shows another version of the answer. */
  onSelect: (view: AnswerView, messageId: string) => void;
  /** Stores what the user thinks of the answer; null withdraws it. */
  onRate: (view: AnswerView, feedback: Feedback | null) => Promise<unknown>;
  /** Loads the stored answer. */
  onReload: (view: AnswerView) => void;
  /** What the answers of the conversation can refer to. */
  references: References;
}

/** The view of one assistant message. */
export class AnswerView {
  element = el("article", { class: "turn answer" }, el("h2", { class: "offscreen" }, t.chat.answer));
  readonly references: References;
  messageId: string | null = null;
  parentId: string | null = null;
  /** The message as it was loaded; null for one that was received as a stream. */
  stored: Message | null = null;
  /** When this page sent the request whose first text it waits for, else 0. */
  sentAt = 0;
  #sources: Sources;
  #parts: AnswerParts;
  #status = el("p", { class: "status" });
  #notes = el("div", { class: "notes" });
  #footer: AnswerFooter;
  #model = "";
  #models: string[] = [];
  #ended = false;
  #stopCountDown = () => {};
  #scheduler = new RenderScheduler(() => this.#parts.render());
  #options: AnswerOptions;

  constructor(options: AnswerOptions) {
    this.#options = options;
    const { references } = options;
    const sources = new Sources(references);
    this.references = references;
    this.#sources = sources;
    this.#parts = new AnswerParts({
      cite: (number) => sources.numbered(number),
      hasSources: () => sources.any,
      isDocument: (path) => references.isDocument(path),
      onCall: ({ name }) => references.noteCall(name),
    });
    const actions = {
      onCopy: (copy: HTMLElement) => void this.#copy(copy),
      onRegenerate: () => options.onRegenerate(this),
      onDelete: () => options.onDelete(this),
      onSelect: (messageId: string) => options.onSelect(this, messageId),
      onRate: (feedback: Feedback | null) => options.onRate(this, feedback),
    };
    this.#footer = new AnswerFooter(actions, sources.toggle);
    this.element.append(this.#parts.element, this.#status, this.#notes, this.#footer.element, sources.element);
  }

  /** Which of several answers to the question it is. */
  get versions(): Versions {
    return this.#footer.versions;
  }

  /** The text so far. */
  get text(): string {
    return this.#parts.text;
  }

  /** Shows one event of a running turn. */
  apply(event: TurnEvent): void {
    if (this.sentAt > 0 && event.type === "content") {
      this.#footer.firstTextMs = performance.now() - this.sentAt;
      this.sentAt = 0;
    }
    switch (event.type) {
      case "start":
        this.#model = event.model;
        this.#setId(event.messageId);
        if (event.continues) this.#reopen();
        break;
      case "thinking":
        this.#parts.appendThinking(event.thinking);
        this.#scheduler.request();
        // The reasoning has its own line.
        this.showStatus("");
        break;
      case "content":
        this.#status.textContent = "";
        this.#parts.appendText(event.content);
        this.#scheduler.request();
        break;
      case "reclassify":
        this.#parts.takeBackText(event.characters);
        this.#scheduler.request();
        break;
      case "tool_call":
        this.#showCall(event);
        break;
      case "tool_progress":
        this.#parts.progress(event);
        break;
      case "tool_result":
        this.#showResult(event);
        break;
      case "usage":
        this.#footer.setUsage(event);
        break;
      case "done":
        this.#models = event.models ?? [];
        this.#finish(event.finishReason);
        break;
      case "error":
        this.#models = event.models ?? [];
        this.showFailed(ApiError.ofEvent(event));
        break;
      default:
        // The list shows titles. A newer server may send event types that this page does not know.
        break;
    }
  }

  /** Shows what the answer is waiting for. */
  showStatus(text: string): void {
    this.#parts.pauseWriting();
    this.#status.textContent = text;
  }

  /** Shows that the answer is about to be stopped. */
  showStopping(): void {
    this.showStatus(t.answer.stopping);
  }

  /** Shows a stored message. Returns whether its turn still runs. */
  showStored(message: Message): boolean {
    this.stored = message;
    this.#ended = false;
    this.#sources.add(message.sources);
    this.#parts.setStored(message);
    this.#model = message.model;
    this.#setId(message.id);
    this.#models = message.models ?? [];
    if (message.usage) this.#footer.setUsage(message.usage);
    const running = message.status === "running";
    if (running) this.showStatus(t.answer.stillWriting);
    else if (message.error) this.showFailed(new ApiError({ ...message.error, retryable: true }));
    else if (message.status === "interrupted") this.#showInterrupted();
    else this.#complete(message.finishReason);
    return running;
  }

  /** Shows what a stored message has besides its content: its position in the conversation, and its rating. */
  showPosition({ id, parentId = null, siblings = [], feedback }: Message): void {
    this.parentId = parentId;
    this.versions.show(siblings, siblings.indexOf(id));
    this.#footer.rating.show(feedback);
  }

  /** Ends the answer with an error. */
  showFailed(error: ApiError): void {
    this.#end();
    const request = error.requestId ? el("span", { class: "request" }, t.answer.request(error.requestId)) : "";
    const sentence = el("span", {});
    const note = this.#setNote("failed", sentence, request);
    const retry = error.retryable ? this.#offerRetry(note) : null;
    this.#stopCountDown = countDown(error, (text, left) => {
      sentence.textContent = text;
      if (retry) retry.disabled = left > 0;
      return note.isConnected;
    });
  }

  /** Ends the view of an answer that may continue on the server, with a button that loads the stored answer. */
  showDisconnected(text: string): void {
    this.#end();
    const load = button(t.chat.load, () => this.#options.onReload(this), { iconName: "reload" });
    this.#setNote("interrupted", text).append(load);
  }

  /** Shows a note below an answer that has no other one. */
  showNote(text: string): void {
    if (!this.#notes.hasChildNodes()) this.#setNote("interrupted", text);
  }

  /** Shows below a text that is longer than the stored one that the model can continue the stored one only. */
  showUnsaved(stored: Message): void {
    const note = this.#setNote("interrupted", t.chat.unsaved);
    this.#offerContinuation(note, stored.finishReason ?? stored.status, stored);
    this.#offerRetry(note);
  }

  #setId(id: string): void {
    this.messageId = id;
    this.element.dataset.message = id;
  }

  #showInterrupted(): void {
    this.#end();
    const note = this.#setNote("interrupted", t.answer.interrupted);
    this.#offerContinuation(note, "interrupted");
    this.#offerRetry(note);
  }

  /** Copies the answer with the sources that it cites. */
  async #copy(copy: HTMLElement): Promise<void> {
    const excerpt = this.#parts.excerpt;
    await copyFormatted(plainExcerpt(excerpt), formattedExcerpt(excerpt));
    flash(copy, t.copied, t.copy);
  }

  /** Lets an answer that has ended grow again. */
  #reopen(): void {
    this.#ended = false;
    this.stored = null;
    this.#stopCountDown();
    this.#notes.replaceChildren();
    this.#footer.clear();
    this.#sources.element.hidden = true;
    this.#parts.reopen();
    this.showStatus(t.chat.waiting);
  }

  /** Shows a call, also in the status if text may have scrolled it out of view. */
  #showCall(call: ToolCall): void {
    const label = this.#parts.call(call);
    this.showStatus("");
    announce(label);
  }

  #showResult(result: ToolResult): void {
    announce(this.#parts.result(result));
    this.#sources.add(result.sources);
    if (!this.#parts.running) this.showStatus(t.answer.reading);
  }

  #finish(finishReason: string): void {
    const reason = this.#complete(finishReason);
    announce(reason ? t.answer.ended(reason) : t.answer.complete);
  }

  /** Ends a complete answer. Returns the text of an unusual finish reason, or null. */
  #complete(finishReason: string | undefined): string | null {
    const reason = finishReasonText(finishReason);
    this.#end(reason !== null);
    if (reason) this.#offerContinuation(this.#setNote(finishReason ?? "", reason), finishReason);
    return reason;
  }

  /** Ends all parts; the text of an answer that was cut looks as it did while it was written. */
  #end(cut = true): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#scheduler.cancel();
    this.#parts.finish(cut);
    this.#status.textContent = "";
    this.#sources.offer();
    const callsOf = this.#parts.hasSteps ? this.messageId : null;
    this.#footer.show({ empty: this.text === "", model: this.#model, models: this.#models, callsOf });
  }

  #setNote(kind: string, ...children: Child[]): HTMLElement {
    const note = el("div", { class: `note ${kind}` }, icon("alert"), el("p", {}, ...children));
    this.#notes.replaceChildren(note);
    return note;
  }

  #offerRetry(note: HTMLElement): HTMLButtonElement {
    const retry = button(t.retry, () => this.#options.onRegenerate(this), { iconName: "reload" });
    retry.title = t.answer.retryTitle;
    note.append(retry);
    return retry;
  }

  /** Adds a button that lets the model continue. CSS shows it below the newest answer only: later ones follow the text as it is. */
  #offerContinuation(note: HTMLElement, end: string | undefined, stored: Message | null = null): void {
    if (!CONTINUABLE.has(end ?? "") || !(stored ? stored.content : this.text)) return;
    const run = () => {
      if (stored) this.showStored(stored);
      this.#options.onContinue(this);
    };
    note.append(button(t.answer.continue, run, { kind: "quiet continue" }));
  }
}
