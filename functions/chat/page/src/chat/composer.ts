// The message box: it grows with the text, counts characters near the limit and keeps a draft per conversation.

import { effect } from "@preact/signals";

import { scalarCount } from "../answer/strings.ts";
import type { Attachment } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { loadFiles } from "../parts/load.ts";
import { draftName, filesOf, openDraft, restoreFiles, takeFiles, unready } from "../state/files.ts";
import { announce, byId, icon } from "../view/dom.ts";

/** The server's limit of a message, in Unicode scalar values. */
export const MAX_CHARS = 32_000;

/** The length from which the hint shows the count. */
const COUNT_FROM = 28_000;

/** Longer drafts are not stored: session storage holds about five million characters in total. */
const MAX_DRAFT_CHARS = 8 * MAX_CHARS;

/** Longer texts are not tried as one line. */
const MAX_LINE_CHARS = 200;

/** The greatest height of a box with one line, in pixels. */
const MAX_LINE_HEIGHT = 40;

/** A touch screen, whose keyboard has no Shift-Enter: Enter makes a new line there. */
const COARSE = window.matchMedia("(pointer: coarse)");

/** What the composer calls. */
export interface ComposerActions {
  onSend: (text: string, files: Attachment[]) => void;
  onStop: () => void;
}

/** The composer. */
export class Composer {
  #area = byId("composer");
  #box = byId("message") as HTMLTextAreaElement;
  #send = byId("send") as HTMLButtonElement;
  #hint = byId("composer-hint");
  /** Opens the last message of the conversation; returns whether there is one. */
  onRecall = () => false;
  #busy = false;
  #onSend: ComposerActions["onSend"];

  constructor({ onSend, onStop }: ComposerActions) {
    this.#onSend = onSend;
    this.#box.addEventListener("input", () => this.#changed());
    this.#box.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("keydown", (event) => this.#catch(event));
    this.#box.enterKeyHint = COARSE.matches ? "enter" : "send";
    this.#send.addEventListener("click", ({ detail }) => {
      if (!this.#busy) this.submit();
      // The second click of a double click was meant to send, as the first one.
      else if (detail < 2) onStop();
    });
    window.addEventListener("resize", () => this.#grow());
    // What appears next to the box makes it narrower, and its placeholder may need a second line.
    new ResizeObserver(() => this.#grow()).observe(byId("composer-bar"));
    effect(() => {
      if (filesOf(openDraft.value).value.length > 0) void loadFiles();
      void unready.value;
      this.#changed();
    });
  }

  /** Shows the draft of a conversation; null is the new conversation. */
  open(conversation: string | null): void {
    const draft = draftName(conversation);
    this.#box.value = sessionStorage.getItem(draft) ?? "";
    openDraft.value = draft;
    this.#changed();
  }

  /** Puts an unsent text and its files back, before the draft that was written in the meantime. */
  restore(conversation: string | null, text: string, files: Attachment[] = []): void {
    const name = draftName(conversation);
    restoreFiles(name, files);
    const draft = sessionStorage.getItem(name);
    sessionStorage.setItem(name, draft ? `${text}\n\n${draft}` : text);
    if (name === openDraft.peek()) this.open(conversation);
  }

  /** Moves the draft of a conversation into the box of a new one. */
  moveToNew(conversation: string): void {
    const draft = draftName(conversation);
    const [text, files] = [sessionStorage.getItem(draft) ?? "", takeFiles(draft)];
    sessionStorage.removeItem(draft);
    if (text !== "" || files.length > 0) this.restore(null, text, files);
  }

  /** Assigns the box to the conversation that the first message created. */
  assignTo(conversation: string): void {
    const [from, to] = [openDraft.peek(), draftName(conversation)];
    openDraft.value = to;
    restoreFiles(to, takeFiles(from));
    sessionStorage.removeItem(from);
    this.#changed();
  }

  /** Sets whether an answer is being written; the button then stops it. */
  setBusy(busy: boolean): void {
    this.#busy = busy;
    const label = busy ? t.shell.stop : t.shell.send;
    this.#send.setAttribute("aria-label", label);
    this.#send.title = label;
    this.#send.replaceChildren(icon(busy ? "stop" : "send"));
    this.#changed();
    if (!busy && !document.activeElement?.closest(".editor, dialog, #typed")) this.focus();
  }

  /** Focuses the box, except on touch screens, where the focus would open the keyboard. */
  focus(): void {
    if (window.matchMedia("(pointer: fine)").matches) this.#box.focus();
  }

  /** Sends the text; shows or announces the reason if it cannot be sent now. */
  submit(): void {
    const text = this.#box.value;
    if (this.#busy) return this.showBusy();
    if (this.#send.disabled) return announce(this.#hint.textContent ?? "");
    this.#box.value = "";
    const files = takeFiles(openDraft.peek()).map(({ id, name, type, bytes, kind }) => ({ id, name, type, bytes, kind }));
    this.#changed();
    this.#onSend(wellFormed(text), files);
  }

  /** Shows that nothing can be sent while an answer is being written. */
  showBusy(): void {
    this.#showHint(t.composer.stillWriting);
  }

  /** Lets the box receive what is typed while nothing has the focus. The space scrolls, and the question mark is a shortcut. */
  #catch({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): void {
    const nowhere = document.activeElement === document.body && !document.querySelector("dialog[open]");
    if (nowhere && key.length === 1 && !" ?".includes(key) && !ctrlKey && !metaKey && !altKey) this.#box.focus();
  }

  #key(event: KeyboardEvent): void {
    if (event.key === "ArrowUp" && this.#box.value === "" && this.onRecall()) event.preventDefault();
    if (!isSendKey(event)) return;
    event.preventDefault();
    this.submit();
  }

  #changed(): void {
    const name = openDraft.peek();
    const text = this.#box.value;
    if (text === "" || text.length > MAX_DRAFT_CHARS) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
    this.#count();
    this.#grow();
  }

  #count(): void {
    const count = this.#box.value.length > COUNT_FROM ? scalarCount(this.#box.value) : 0;
    const over = count - MAX_CHARS;
    this.#hint.classList.toggle("over", over > 0);
    this.#hint.textContent = countText(count) || unready.peek();
    this.#send.disabled = !this.#busy && (over > 0 || this.#box.value.trim() === "" || unready.peek() !== "");
  }

  #showHint(text: string): void {
    this.#hint.textContent = text;
    announce(text);
  }

  /** Fits the box to its text. A text of one line shares the line with the buttons. */
  #grow(): void {
    const { classList } = this.#area;
    classList.remove("tall");
    // Measuring a long text twice would delay each key.
    if (this.#box.value.length < MAX_LINE_CHARS) fitHeight(this.#box);
    const tall = this.#box.value.length >= MAX_LINE_CHARS || this.#box.scrollHeight > MAX_LINE_HEIGHT || filesOf(openDraft.peek()).peek().length > 0;
    classList.toggle("tall", tall);
    if (tall) fitHeight(this.#box);
  }
}

/** Makes a box as high as its text; CSS limits the height. */
export function fitHeight(box: HTMLTextAreaElement): void {
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}

/** Whether a key sends the text, and does not select a candidate of an input method (key code 229). */
export function isSendKey(event: KeyboardEvent): boolean {
  const composing = event.isComposing || event.keyCode === 229;
  if (event.key !== "Enter" || event.shiftKey || composing) return false;
  return !COARSE.matches || event.ctrlKey || event.metaKey;
}

/** A text without half characters, which JSON could not carry. */
export function wellFormed(text: string): string {
  return text.toWellFormed?.() ?? text;
}

/** The hint for a message of `count` characters; empty far below the limit. */
function countText(count: number): string {
  if (count > MAX_CHARS) return t.composer.tooLong(count - MAX_CHARS, MAX_CHARS);
  return count > COUNT_FROM ? t.composer.length(count, MAX_CHARS) : "";
}
