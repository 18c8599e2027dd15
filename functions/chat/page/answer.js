// One answer on the page: thinking, steps, sources, text, and how it ended; live from events or as it was stored.

import { CallDetails } from "./calls.js";
import { announce, button, copyText, el, icon } from "./dom.js";
import { Frames } from "./frames.js";
import { MarkdownView } from "./markdown.js";
import { Sources, Steps } from "./steps.js";
import { endWords, errorWords, seconds, usageWords, writerWords } from "./words.js";

/** The view of one assistant message. `onRetry` has the question answered again, `onReload` reads the stored answer. */
export class AnswerView {
  element = el("article", { class: "turn answer" }, el("h2", { class: "offscreen" }, "Answer"));
  #text = "";
  #steps = new Steps();
  #sources = new Sources();
  #thinking = new Thinking();
  #prose = el("div", { class: "prose" });
  #markdown = new MarkdownView(this.#prose, (number) => this.#sources.numbered(number));
  #status = el("p", { class: "status" });
  #notes = el("div", { class: "notes" });
  #footer = el("footer", { class: "answer-footer" });
  #model = "";
  #messageId = null;
  #calls = null;
  #writers = [];
  #frames = new Frames(() => {
    this.#markdown.render();
    this.#thinking.render();
  });
  #onRetry;
  #onReload;

  constructor({ onRetry, onReload }) {
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

  /** Shows one event of a running turn; a title is not the answer's business. */
  apply(event) {
    this.#writers = event.models ?? [];
    const show = {
      start: () => {
        this.#model = event.model;
        this.#messageId = event.messageId;
      },
      thinking: () => this.#think(event.thinking),
      content: () => this.#write(event.content),
      tool_call: () => this.#call(event),
      tool_progress: () => this.#steps.progress(event),
      tool_result: () => this.#result(event),
      usage: () => this.#footer.append(el("span", { class: "usage" }, usageWords(event))),
      done: () => this.#done(event.finishReason),
      error: () => this.failed({ ...event, retryAfter: event.retryAfterSeconds ?? 0 }),
    };
    show[event.type]?.();
  }

  /** Says what is being waited for. */
  waiting(words) {
    this.#prose.classList.remove("writing");
    this.#status.textContent = words;
  }

  /** Says that the answer is about to end where it is. */
  stopping() {
    this.waiting("Stopping…");
  }

  /** Shows a stored message, or what is new in it since it was shown last. Returns whether it is still being written. */
  show(message) {
    this.#thinking.set(message.thinking ?? "");
    for (const call of message.toolCalls ?? []) {
      this.#steps.call(call);
      if (typeof call.ok === "boolean") this.#steps.result(call);
    }
    this.#sources.add(message.sources);
    this.#rewrite(message.content ?? "");
    this.#model = message.model;
    this.#messageId = message.id;
    this.#writers = message.models ?? [];
    const running = message.status === "running";
    if (running) this.waiting("This answer is still being written…");
    else if (message.status === "interrupted") this.interrupted("This answer was interrupted.");
    else this.#complete(message.finishReason);
    return running;
  }

  /** Ends the answer with an error in words. */
  failed(error) {
    this.#end();
    const request = error.requestId ? el("span", { class: "request" }, `Request ${error.requestId}`) : "";
    const note = this.#note("failed", errorWords(error), request);
    if (error.retryable) this.#offerRetry(note);
  }

  /** Ends the answer where it is. */
  interrupted(words) {
    this.#end();
    this.#offerRetry(this.#note("interrupted", words));
  }

  /** Ends the answer where it is and offers to read the rest from the server. */
  unread(words, offer) {
    this.#end();
    this.#note("interrupted", words).append(button(offer, this.#onReload, { name: "reload" }));
  }

  /** Says something about the answer without ending it. */
  remark(words) {
    this.#note("interrupted", words);
  }

  #think(delta) {
    this.#thinking.push(delta);
    this.#frames.request();
    this.waiting("Thinking…");
  }

  #write(delta) {
    this.#thinking.pause();
    this.#status.textContent = "";
    this.#prose.classList.add("writing");
    this.#text += delta;
    this.#markdown.push(delta);
    this.#frames.request();
  }

  /** The step itself says what runs; below a text it could be out of sight. Text after a call begins a new paragraph. */
  #call(call) {
    this.#thinking.pause();
    if (this.#text !== "" && !this.#text.endsWith("\n")) this.#write("\n\n");
    const words = this.#steps.call(call);
    this.waiting(this.#text === "" ? "" : `${words}…`);
    announce(words);
  }

  #result(result) {
    announce(this.#steps.result(result));
    this.#sources.add(result.sources);
    if (!this.#steps.running) this.waiting("Reading the results…");
  }

  #done(finishReason) {
    const words = this.#complete(finishReason);
    announce(words ? `Answer ended. ${words}` : "Answer complete.");
  }

  /** Ends an answer that is one. Returns what is special about its end, in words. */
  #complete(finishReason) {
    this.#end();
    const words = endWords(finishReason);
    if (words) this.#note(finishReason, words);
    const again = button("Answer again", () => this.#onRetry(this), { name: "reload", kind: "text again" });
    if (!this.#footer.querySelector(".again")) this.#footer.append(again);
    return words;
  }

  #rewrite(content) {
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
    this.#frames.cancel();
    this.#markdown.finish();
    this.#thinking.render();
    this.#prose.classList.remove("writing");
    this.#status.textContent = "";
    this.#thinking.pause();
    this.#steps.abandon();
    this.#offerCalls();
    if (this.#footer.querySelector(".model-name")) return;
    if (this.#text.trim() !== "") this.#footer.prepend(copyButton(() => this.#text));
    this.#footer.append(el("span", { class: "model-name" }, this.#model));
    const words = writerWords(this.#writers, this.#model);
    if (words) this.#footer.append(el("span", { class: "writers" }, words));
  }

  #note(kind, ...words) {
    const note = el("div", { class: `note ${kind}` }, icon("alert"), el("p", {}, ...words));
    this.#notes.replaceChildren(note);
    return note;
  }

  /** Shown below the newest answer only: no other can be answered again. */
  #offerRetry(note) {
    const retry = button("Try again", () => this.#onRetry(this), { name: "reload", kind: "quiet again" });
    retry.title = "Answers your message once more.";
    note.append(retry);
  }

  #offerCalls() {
    if (this.#calls || this.#steps.element.hidden || this.#messageId === null || !CallDetails.offered) return;
    this.#calls = new CallDetails(this.#messageId);
    this.#steps.element.after(this.#calls.element);
  }
}

function copyButton(text) {
  const copy = button(
    "Copy",
    async () => {
      await copyText(text());
      copy.lastChild.data = "Copied";
      setTimeout(() => {
        copy.lastChild.data = "Copy";
      }, 2000);
    },
    { name: "copy", kind: "text copy" },
  );
  return copy;
}

/** The model's reasoning, folded away. */
class Thinking {
  element = el("details", { class: "thinking", hidden: true });
  #label = el("span", {}, "Thinking");
  #thoughts = el("div", { class: "thoughts" });
  #pending = "";
  #since = 0;
  #spent = 0;

  constructor() {
    this.element.append(el("summary", {}, this.#label), this.#thoughts);
  }

  set(text) {
    this.element.hidden = text === "";
    this.#thoughts.textContent = text;
  }

  push(delta) {
    this.#pending += delta;
    this.#since ||= performance.now();
    this.#label.textContent = "Thinking…";
    this.element.hidden = false;
  }

  render() {
    this.#thoughts.append(this.#pending);
    this.#pending = "";
  }

  pause() {
    if (this.#since === 0) return;
    this.#spent += performance.now() - this.#since;
    this.#since = 0;
    this.#label.textContent = `Thought for ${seconds(this.#spent)}`;
  }
}
