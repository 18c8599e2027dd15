// The message box: it grows with the text, counts characters near the limit and keeps a draft per conversation.

import { announce, byId, icon } from "./dom.js";
import { formatNumber, pluralize, scalarCount } from "./strings.js";

/** The server's limit of a message, in Unicode scalar values. */
const MAX_CHARS = 32_000;

/** The length from which the hint shows the count. */
const COUNT_FROM = 28_000;

/** Longer drafts are not stored: session storage holds about five million characters in total. */
const MAX_DRAFT_CHARS = 8 * MAX_CHARS;

/** The composer; `onSend` receives the text, `onStop` no arguments. */
export class Composer {
  #box = byId("message");
  #send = byId("send");
  #hint = byId("composer-hint");
  #conversation = null;
  #busy = false;
  #onSend;

  constructor({ onSend, onStop }) {
    this.#onSend = onSend;
    this.#box.addEventListener("input", () => this.#changed());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    this.#send.addEventListener("click", () => (this.#busy ? onStop() : this.submit()));
    window.addEventListener("resize", () => this.#grow());
  }

  /** Shows the draft of a conversation; null is the new conversation. */
  open(conversation) {
    this.#conversation = conversation;
    this.#box.value = sessionStorage.getItem(draftName(conversation)) ?? "";
    this.#changed();
  }

  /** Puts an unsent text back, before the draft that was written in the meantime. */
  restore(conversation, text) {
    const name = draftName(conversation);
    const draft = sessionStorage.getItem(name);
    sessionStorage.setItem(name, draft ? `${text}\n\n${draft}` : text);
    if (conversation === this.#conversation) this.open(conversation);
  }

  /** Assigns the box to the conversation that the first message created. */
  assignTo(conversation) {
    sessionStorage.removeItem(draftName(this.#conversation));
    this.#conversation = conversation;
    this.#changed();
  }

  /** Sets whether an answer is being written; the button then stops it. */
  setBusy(busy) {
    this.#busy = busy;
    const label = busy ? "Stop (Escape)" : "Send (Enter)";
    this.#send.setAttribute("aria-label", label);
    this.#send.title = label;
    this.#send.replaceChildren(icon(busy ? "stop" : "send"));
    this.#changed();
  }

  /** Focuses the box, except on touch screens, where the focus would open the keyboard. */
  focus() {
    if (window.matchMedia("(pointer: fine)").matches) this.#box.focus();
  }

  /** Sends the text; shows or announces the reason if it cannot be sent now. */
  submit() {
    const text = this.#box.value;
    if (this.#busy) return this.#showHint("The answer is still being written. Your text stays here.");
    if (text.trim() === "" || scalarCount(text) > MAX_CHARS) return announce(this.#hint.textContent);
    this.#box.value = "";
    this.#changed();
    this.#onSend(text.toWellFormed?.() ?? text);
  }

  /** Handles a key: sends the text, unless the key selects a candidate of an input method (key code 229). */
  #key(event) {
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    this.submit();
  }

  #changed() {
    const name = draftName(this.#conversation);
    const text = this.#box.value;
    if (text === "" || text.length > MAX_DRAFT_CHARS) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
    this.#count();
    this.#grow();
  }

  #count() {
    const count = this.#box.value.length > COUNT_FROM ? scalarCount(this.#box.value) : 0;
    const over = count - MAX_CHARS;
    this.#hint.classList.toggle("over", over > 0);
    this.#hint.textContent = countText(count);
    this.#send.disabled = !this.#busy && (over > 0 || this.#box.value.trim() === "");
  }

  #showHint(text) {
    this.#hint.textContent = text;
    announce(text);
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${this.#box.scrollHeight}px`;
  }
}

/** The hint for a message of `count` characters; empty far below the limit. */
function countText(count) {
  const [limit, excess] = [formatNumber(MAX_CHARS), count - MAX_CHARS];
  if (excess > 0) return `${pluralize(excess, "character")} too many: a message has at most ${limit}.`;
  return count > COUNT_FROM ? `${formatNumber(count)} of ${limit} characters` : "";
}

function draftName(conversation) {
  return `draft:${conversation ?? "new"}`;
}
