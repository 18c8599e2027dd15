// The view of one answer: its parts, sources and end, from live events or from the stored message.

import { ApiError } from "../api/client.ts";
import type { Message, ToolCall, ToolResult, TurnEvent, Usage } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { announce, button, copyText, el, flash, icon, type Child } from "../view/dom.ts";
import { CallDetails } from "./call-details.ts";
import { AnswerParts } from "./parts.ts";
import type { References } from "./references.ts";
import { RenderScheduler } from "./render-scheduler.ts";
import { Sources } from "./sources.ts";
import { attributionText, errorText, finishReasonText, usageText } from "./strings.ts";

/** What an answer needs of the conversation. */
export interface AnswerOptions {
  /** Regenerates the answer. */
  onRetry: (view: AnswerView) => void;
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
  #sources: Sources;
  #parts: AnswerParts;
  #status = el("p", { class: "status" });
  #notes = el("div", { class: "notes" });
  #footer = el("footer", { class: "answer-footer" });
  #model = "";
  #models: string[] = [];
  #ended = false;
  #callDetails: CallDetails | null = null;
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
      hasDocuments: () => references.hasDocuments,
      onCall: ({ name }) => references.noteCall(name),
    });
    this.element.append(this.#parts.element, this.#status, this.#sources.element, this.#notes, this.#footer);
  }

  /** The text so far. */
  get text(): string {
    return this.#parts.text;
  }

  /** Shows one event of a running turn. */
  apply(event: TurnEvent): void {
    switch (event.type) {
      case "start":
        this.#model = event.model;
        this.messageId = event.messageId;
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
        this.#showUsage(event);
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
    this.#sources.add(message.sources);
    this.#parts.setStored(message);
    this.#model = message.model;
    this.messageId = message.id;
    this.#models = message.models ?? [];
    if (message.usage) this.#showUsage(message.usage);
    const running = message.status === "running";
    if (running) this.showStatus(t.answer.stillWriting);
    else if (message.error) this.showFailed(new ApiError({ ...message.error, retryable: true }));
    else if (message.status === "interrupted") this.#showInterrupted(t.answer.interrupted);
    else this.#complete(message.finishReason);
    return running;
  }

  /** Ends the answer with an error. */
  showFailed(error: ApiError): void {
    this.#end();
    const request = error.requestId ? el("span", { class: "request" }, t.answer.request(error.requestId)) : "";
    const note = this.#setNote("failed", errorText(error), request);
    if (error.retryable) this.#offerRetry(note);
  }

  /** Ends the view of an answer that may continue on the server, with a button that loads the stored answer. */
  showDisconnected(text: string): void {
    this.#end();
    const load = button(t.chat.load, () => this.#options.onReload(this), { iconName: "reload" });
    this.#setNote("interrupted", text).append(load);
  }

  /** Shows a note below the answer without ending it. */
  showNote(text: string): void {
    this.#setNote("interrupted", text);
  }

  #showUsage(usage: Usage): void {
    this.#footer.append(el("span", { class: "usage" }, usageText(usage)));
  }

  #showInterrupted(text: string): void {
    this.#end();
    this.#offerRetry(this.#setNote("interrupted", text));
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
    this.#end();
    const reason = finishReasonText(finishReason);
    if (reason) this.#setNote(finishReason ?? "", reason);
    const kind = { iconName: "reload", kind: "text regenerate" } as const;
    this.#footer.append(button(t.answer.again, () => this.#options.onRetry(this), kind));
    return reason;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#scheduler.cancel();
    this.#parts.finish();
    this.#status.textContent = "";
    this.#sources.show();
    this.#offerCallDetails();
    if (this.text !== "") this.#footer.prepend(copyButton(() => this.text));
    this.#footer.append(el("span", { class: "model-name" }, this.#model));
    const attribution = attributionText(this.#models, this.#model);
    if (attribution) this.#footer.append(el("span", { class: "attribution" }, attribution));
    // Nothing was written: the numbers would be of no use.
    if (this.text === "") for (const usage of this.#footer.querySelectorAll(".usage")) usage.remove();
  }

  #setNote(kind: string, ...children: Child[]): HTMLElement {
    const note = el("div", { class: `note ${kind}` }, icon("alert"), el("p", {}, ...children));
    this.#notes.replaceChildren(note);
    return note;
  }

  /** Adds a retry button. CSS shows it below the newest answer only, because no other can be regenerated. */
  #offerRetry(note: HTMLElement): void {
    const kind = { iconName: "reload", kind: "quiet regenerate" } as const;
    const retry = button(t.retry, () => this.#options.onRetry(this), kind);
    retry.title = t.answer.retryTitle;
    note.append(retry);
  }

  #offerCallDetails(): void {
    if (this.#callDetails || !this.#parts.hasSteps || this.messageId === null || !CallDetails.available) return;
    this.#callDetails = new CallDetails(this.messageId);
    this.#sources.element.after(this.#callDetails.element);
  }
}

function copyButton(text: () => string): HTMLElement {
  const onClick = async () => {
    await copyText(text());
    flash(copy, t.copied, t.copy);
  };
  const copy = button(t.copy, () => void onClick(), { iconName: "copy", kind: "text copy" });
  return copy;
}
