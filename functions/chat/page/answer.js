// The view of one answer: reasoning, tool calls, sources, text and end, from live events or from the stored message.

import { CallDetails } from "./call-details.js";
import { announce, button, copyText, el, icon } from "./dom.js";
import { MarkdownView } from "./markdown.js";
import { RenderScheduler } from "./render-scheduler.js";
import { Sources, Steps } from "./steps.js";
import { attributionText, errorText, finishReasonText, usageText } from "./strings.js";
import { Thinking } from "./thinking.js";

/**
 * The view of one assistant message. `onRetry` regenerates the answer, `onReload` loads the stored answer, and
 * `conversationSources` maps numbers to the sources of all answers of the conversation.
 */
export class AnswerView {
  element = el("article", { class: "turn answer" }, el("h2", { class: "offscreen" }, "Answer"));
  #text = "";
  #steps = new Steps();
  #sources;
  #thinking = new Thinking();
  #prose = el("div", { class: "prose" });
  #markdown = new MarkdownView(this.#prose, (number) => this.#sources.numbered(number));
  conversationSources;
  #status = el("p", { class: "status" });
  #notes = el("div", { class: "notes" });
  #footer = el("footer", { class: "answer-footer" });
  #model = "";
  #messageId = null;
  #callDetails = null;
  #models = [];
  #scheduler = new RenderScheduler(() => {
    this.#markdown.render();
    this.#thinking.render();
  });
  #onRetry;
  #onReload;

  constructor({ onRetry, onReload, conversationSources }) {
    this.conversationSources = conversationSources;
    this.#sources = new Sources(conversationSources);
    this.#onRetry = onRetry;
    this.#onReload = onReload;
    this.element.append(
      this.#thinking.element,
      this.#steps.element,
      this.#sources.element,
      this.#prose,
      this.#status,
      this.#notes,
      this.#footer,
    );
  }

  /** Shows one event of a running turn. */
  apply(event) {
    this.#models = event.models ?? [];
    switch (event.type) {
      case "start":
        this.#model = event.model;
        this.#messageId = event.messageId;
        break;
      case "thinking":
        this.#appendThinking(event.thinking);
        break;
      case "content":
        this.#appendText(event.content);
        break;
      case "tool_call":
        this.#showCall(event);
        break;
      case "tool_progress":
        this.#steps.progress(event);
        break;
      case "tool_result":
        this.#showResult(event);
        break;
      case "title":
        // The conversation list shows the title; the answer does not.
        break;
      case "usage":
        this.#footer.append(el("span", { class: "usage" }, usageText(event)));
        break;
      case "done":
        this.#finish(event.finishReason);
        break;
      case "error":
        this.showFailed({ ...event, retryAfter: event.retryAfterSeconds ?? 0 });
        break;
      default:
        // A newer server may send event types that this page does not know: the page skips them.
        break;
    }
  }

  /** Shows what the answer is waiting for. */
  showStatus(text) {
    this.#prose.classList.remove("writing");
    this.#status.textContent = text;
  }

  /** Shows that the answer is about to be stopped. */
  showStopping() {
    this.showStatus("Stopping…");
  }

  /** Shows a stored message, or the difference to the last one shown. Returns whether its turn still runs. */
  showStored(message) {
    this.#thinking.set(message.thinking ?? "");
    for (const call of message.toolCalls ?? []) {
      this.#steps.call(call);
      if (typeof call.ok === "boolean") this.#steps.result(call);
    }
    this.#sources.add(message.sources);
    this.#setText(message.content ?? "");
    this.#model = message.model;
    this.#messageId = message.id;
    this.#models = message.models ?? [];
    const running = message.status === "running";
    if (running) this.showStatus("This answer is still being written…");
    else if (message.status === "interrupted") this.#showInterrupted("This answer was interrupted.");
    else this.#complete(message.finishReason);
    return running;
  }

  /** Ends the answer with an error. */
  showFailed(error) {
    this.#end();
    const request = error.requestId ? el("span", { class: "request" }, `Request ${error.requestId}`) : "";
    const note = this.#setNote("failed", errorText(error), request);
    if (error.retryable) this.#offerRetry(note);
  }

  /** Ends the view of an answer that may continue on the server, with a button that loads the stored answer. */
  showDisconnected(text, label) {
    this.#end();
    this.#setNote("interrupted", text).append(button(label, this.#onReload, { iconName: "reload" }));
  }

  /** Shows a note below the answer without ending it. */
  showNote(text) {
    this.#setNote("interrupted", text);
  }

  #showInterrupted(text) {
    this.#end();
    this.#offerRetry(this.#setNote("interrupted", text));
  }

  #appendThinking(delta) {
    this.#thinking.push(delta);
    this.#scheduler.request();
    this.showStatus("Thinking…");
  }

  #appendText(delta) {
    this.#thinking.pause();
    this.#status.textContent = "";
    this.#prose.classList.add("writing");
    this.#text += delta;
    this.#markdown.push(delta);
    this.#scheduler.request();
  }

  /** Shows a call, also in the status if text may have scrolled it out of view. Later text starts a new paragraph. */
  #showCall(call) {
    this.#thinking.pause();
    if (this.#text !== "" && !this.#text.endsWith("\n")) this.#appendText("\n\n");
    const label = this.#steps.call(call);
    this.showStatus(this.#text === "" ? "" : `${label}…`);
    announce(label);
  }

  #showResult(result) {
    announce(this.#steps.result(result));
    this.#sources.add(result.sources);
    if (!this.#steps.running) this.showStatus("Reading the results…");
  }

  #finish(finishReason) {
    const reason = this.#complete(finishReason);
    announce(reason ? `Answer ended. ${reason}` : "Answer complete.");
  }

  /** Ends a complete answer. Returns the text of an unusual finish reason, or null. */
  #complete(finishReason) {
    this.#end();
    const reason = finishReasonText(finishReason);
    if (reason) this.#setNote(finishReason, reason);
    const regenerate = button("Answer again", () => this.#onRetry(this), {
      iconName: "reload",
      kind: "text regenerate",
    });
    if (!this.#footer.querySelector(".regenerate")) this.#footer.append(regenerate);
    return reason;
  }

  #setText(content) {
    if (!content.startsWith(this.#text)) {
      this.#text = "";
      this.#prose.replaceChildren();
      this.#markdown = new MarkdownView(this.#prose, (number) => this.#sources.numbered(number));
    }
    this.#markdown.push(content.slice(this.#text.length));
    this.#text = content;
    this.#markdown.render();
  }

  #end() {
    this.#scheduler.cancel();
    this.#markdown.finish();
    this.#thinking.render();
    this.#prose.classList.remove("writing");
    this.#status.textContent = "";
    this.#thinking.pause();
    this.#steps.abandon();
    this.#offerCallDetails();
    if (this.#footer.querySelector(".model-name")) return;
    if (this.#text.trim() !== "") this.#footer.prepend(copyButton(() => this.#text));
    this.#footer.append(el("span", { class: "model-name" }, this.#model));
    const attribution = attributionText(this.#models, this.#model);
    if (attribution) this.#footer.append(el("span", { class: "attribution" }, attribution));
  }

  #setNote(kind, ...children) {
    const note = el("div", { class: `note ${kind}` }, icon("alert"), el("p", {}, ...children));
    this.#notes.replaceChildren(note);
    return note;
  }

  /** Adds a retry button. CSS shows it below the newest answer only, because no other can be regenerated. */
  #offerRetry(note) {
    const retry = button("Try again", () => this.#onRetry(this), { iconName: "reload", kind: "quiet regenerate" });
    retry.title = "Answers your message once more.";
    note.append(retry);
  }

  #offerCallDetails() {
    if (this.#callDetails || this.#steps.element.hidden || this.#messageId === null || !CallDetails.available) return;
    this.#callDetails = new CallDetails(this.#messageId);
    this.#steps.element.after(this.#callDetails.element);
  }
}

function copyButton(text) {
  const onClick = async () => {
    await copyText(text());
    copy.lastChild.data = "Copied";
    setTimeout(() => {
      copy.lastChild.data = "Copy";
    }, 2000);
  };
  const copy = button("Copy", onClick, { iconName: "copy", kind: "text copy" });
  return copy;
}
