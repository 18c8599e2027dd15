// The view of a user's message, which can be edited in its place.

import { scalarCount } from "../answer/strings.ts";
import type { Attachment, Message } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { showAttached } from "../parts/use.ts";
import { button, copyText, el, flash, iconButton } from "../view/dom.ts";
import { Versions } from "../view/versions.ts";
import { fitHeight, isSendKey, MAX_CHARS, wellFormed } from "./composer.ts";

/** Longer messages are folded at first: characters, and lines. */
const FOLDED_FROM = { characters: 1200, lines: 14 };

/** What the buttons do. */
export interface QuestionActions {
  /** Begins to edit: the ids of the message may be needed soon. */
  onEdit: (view: QuestionView) => void;
  /** Sends the edited text; returns whether it can be sent now. */
  onSend: (view: QuestionView, text: string) => boolean;
  onDelete: (view: QuestionView) => void;
  onSelect: (view: QuestionView, messageId: string) => void;
}

/** What a message of the user consists of. */
export type Question = Pick<Message, "content" | "attachments" | "parentId">;

/** The view of one message of the user. */
export class QuestionView {
  element = el("article", { class: "turn user" }, el("h2", { class: "offscreen" }, t.chat.you));
  readonly text: string;
  readonly attachments: Attachment[];
  /** The id, or null before the stored message was loaded. */
  messageId: string | null = null;
  parentId: string | null;
  versions: Versions;
  #bubble: HTMLElement;
  #fold: HTMLButtonElement | null = null;
  #footer: HTMLElement;
  #editor: HTMLFormElement | null = null;
  #actions: QuestionActions;

  constructor({ content: text = "", attachments = [], parentId = null }: Question, actions: QuestionActions) {
    this.text = text;
    this.attachments = attachments;
    this.parentId = parentId;
    this.#actions = actions;
    this.#bubble = el("p", { class: "bubble", dir: "auto" }, text);
    this.versions = new Versions((id) => actions.onSelect(this, id));
    const copy = iconButton(t.question.copy, "copy", () => void copyText(text).then(() => flash(copy, t.copied, t.question.copy)));
    const edit = iconButton(t.question.edit, "pencil", () => this.edit(text));
    const remove = iconButton(t.deleteFrom, "trash", () => actions.onDelete(this));
    this.#footer = el("footer", {}, el("div", { class: "message-actions" }, copy, edit, remove), this.versions.element);
    this.element.append(this.#bubble, this.#footer);
    if (attachments.length > 0) {
      // The names are shown until the part is loaded.
      const files = el("div", { class: "attached" }, attachments.map(({ name }) => name).join(", "));
      this.#bubble.before(files);
      showAttached(files, attachments);
    }
    if (text.length > FOLDED_FROM.characters || text.split("\n").length > FOLDED_FROM.lines) this.#offerFold();
  }

  /** Shows where the message is in the conversation. */
  showPosition({ id, parentId = null, siblings = [] }: Message): void {
    this.messageId = id;
    this.parentId = parentId;
    this.element.dataset.message = id;
    this.versions.show(siblings, siblings.indexOf(id));
  }

  /** Opens the text field with a text. */
  edit(text: string): void {
    if (this.#editor && text === this.text) return this.#editor.querySelector("textarea")?.focus();
    this.#close();
    const box = el("textarea", { rows: 1, "aria-label": t.question.edit });
    const hint = el("p", { class: "field-error", role: "alert" });
    const send = el("button", { type: "submit", class: "button primary" }, t.question.send);
    const cancel = button(t.cancel, () => this.#cancel());
    const editor = el("form", { class: "editor" }, box, hint, el("div", { class: "actions" }, cancel, send));
    box.value = text;
    box.addEventListener("input", () => fitHeight(box));
    box.addEventListener("keydown", (event) => {
      if (isSendKey(event)) {
        event.preventDefault();
        editor.requestSubmit();
      }
    });
    editor.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.isComposing) return;
      // Outside of the editor the key stops a running answer.
      event.stopPropagation();
      this.#cancel();
    });
    editor.addEventListener("submit", (event) => {
      event.preventDefault();
      const over = scalarCount(box.value) - MAX_CHARS;
      hint.textContent = over > 0 ? t.composer.tooLong(over, MAX_CHARS) : "";
      if (over > 0 || box.value.trim() === "" || !this.#actions.onSend(this, wellFormed(box.value))) return;
      this.#close();
    });
    this.#editor = editor;
    this.#hide(true);
    this.element.append(editor);
    fitHeight(box);
    box.focus();
    this.#actions.onEdit(this);
  }

  #cancel(): void {
    this.#close();
    this.#footer.querySelector<HTMLElement>(".message-actions button:nth-child(2)")?.focus();
  }

  #close(): void {
    this.#editor?.remove();
    this.#editor = null;
    this.#hide(false);
  }

  #hide(hidden: boolean): void {
    for (const node of [this.#bubble, this.#fold, this.#footer]) if (node) node.hidden = hidden;
  }

  #offerFold(): void {
    const show = (folded: boolean) => {
      this.#bubble.classList.toggle("folded", folded);
      fold.textContent = folded ? t.question.unfold : t.question.fold;
      fold.setAttribute("aria-expanded", String(!folded));
    };
    const fold = button("", () => show(!this.#bubble.classList.contains("folded")), { kind: "text" });
    show(true);
    this.#fold = fold;
    this.#bubble.after(fold);
  }
}
