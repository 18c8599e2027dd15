// The box to write in: grows with the text, counts near the limit, keeps a draft per conversation.

import { announce, byId, icon } from "./dom.js";
import { number, plural, scalarCount } from "./words.js";

const LIMIT = 32_000;
const NEAR = 28_000;
// The session has room for a few million characters in all; a draft far over the limit is not worth them.
const KEPT = 8 * LIMIT;

/** The composer; `onSend` is given the text and `onStop` nothing. */
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

  /** Shows the draft of a conversation; null is the one that does not exist yet. */
  open(conversation) {
    this.#conversation = conversation;
    this.#box.value = sessionStorage.getItem(draftName(conversation)) ?? "";
    this.#changed();
  }

  /** Gives a text back that could not be sent, before whatever has been written since. */
  restore(conversation, text) {
    const name = draftName(conversation);
    const since = sessionStorage.getItem(name);
    sessionStorage.setItem(name, since ? `${text}\n\n${since}` : text);
    if (conversation === this.#conversation) this.open(conversation);
  }

  /** The box now belongs to the conversation that its first message made. */
  becomes(conversation) {
    sessionStorage.removeItem(draftName(this.#conversation));
    this.#conversation = conversation;
    this.#changed();
  }

  /** While an answer is being written the button stops it. */
  busy(busy) {
    this.#busy = busy;
    const words = busy ? "Stop (Escape)" : "Send (Enter)";
    this.#send.setAttribute("aria-label", words);
    this.#send.title = words;
    this.#send.replaceChildren(icon(busy ? "stop" : "send"));
    this.#changed();
  }

  /** Puts the cursor into the box, but not where that would open a keyboard on the screen. */
  focus() {
    if (window.matchMedia("(pointer: fine)").matches) this.#box.focus();
  }

  /** Sends what is in the box; while an answer is being written, or when it cannot be sent, says why it stays. */
  submit() {
    const text = this.#box.value;
    if (this.#busy) return this.#say("The answer is still being written. Your text stays here.");
    if (text.trim() === "" || scalarCount(text) > LIMIT) return announce(this.#hint.textContent);
    this.#box.value = "";
    this.#changed();
    this.#onSend(text.toWellFormed?.() ?? text);
  }

  /** A key that chooses among the input method's proposals is not meant for the page. */
  #key(event) {
    const composing = event.isComposing || event.keyCode === 229;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    event.preventDefault();
    this.submit();
  }

  #changed() {
    const name = draftName(this.#conversation);
    const text = this.#box.value;
    if (text === "" || text.length > KEPT) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
    this.#count();
    this.#grow();
  }

  #count() {
    const count = this.#box.value.length > NEAR ? scalarCount(this.#box.value) : 0;
    const over = count - LIMIT;
    this.#hint.classList.toggle("over", over > 0);
    this.#hint.textContent = countWords(count);
    this.#send.disabled = !this.#busy && (over > 0 || this.#box.value.trim() === "");
  }

  #say(words) {
    this.#hint.textContent = words;
    announce(words);
  }

  #grow() {
    this.#box.style.height = "auto";
    this.#box.style.height = `${this.#box.scrollHeight}px`;
  }
}

/** What is said about a message of so many characters; nothing as long as it is far from the limit. */
function countWords(count) {
  if (count > LIMIT) return `${plural(count - LIMIT, "character")} too many: a message has at most ${number(LIMIT)}.`;
  return count > NEAR ? `${number(count)} of ${number(LIMIT)} characters` : "";
}

function draftName(conversation) {
  return `draft:${conversation ?? "new"}`;
}
