// The list of conversations: grouped by age, newest first, page by page; each can be opened, renamed and deleted.

import { deleteConversation, listConversations, renameConversation } from "./api.js";
import { ask } from "./dialogs.js";
import { button, byId, el, iconButton } from "./dom.js";
import { ageWords, errorWords, scalarCount } from "./words.js";

const LONGEST_TITLE = 200;

/** The list; `onRenamed` and `onDeleted` are told about a conversation that the user changed. */
export class Conversations {
  #place = byId("conversations");
  #list = [];
  #cursor = null;
  #current = null;
  #trouble = null;
  #loaded = false;
  #onRenamed;
  #onDeleted;

  constructor({ onRenamed, onDeleted }) {
    this.#onRenamed = onRenamed;
    this.#onDeleted = onDeleted;
  }

  /** Reads the first page again; what was loaded beyond it stays. */
  async refresh() {
    await this.#load(null, (page, { nextCursor }) => {
      const oldest = page.at(-1)?.updatedAt ?? "";
      const beyond = nextCursor === null ? [] : this.#list.filter((known) => known.updatedAt < oldest);
      if (beyond.length === 0) this.#cursor = nextCursor;
      this.#list = [];
      this.#put([...page, ...beyond]);
    });
  }

  /** Repeats what failed last, if something did. */
  async retry() {
    await this.#trouble?.again();
  }

  /** Puts a conversation into the list, or what is new about it. */
  update(conversation) {
    const known = this.#list.find(({ id }) => id === conversation.id);
    this.#put([{ ...known, ...conversation }]);
    this.#draw();
  }

  /** Marks the conversation that is open. */
  mark(id) {
    this.#current = id;
    this.#draw();
  }

  /** The title of a conversation, as far as it is known. */
  title(id) {
    return this.#list.find((known) => known.id === id)?.title || null;
  }

  async #more() {
    await this.#load(this.#cursor, (page, { nextCursor }) => {
      this.#cursor = nextCursor;
      this.#put(page);
    });
  }

  async #load(cursor, take) {
    try {
      const answer = await listConversations(cursor);
      this.#trouble = null;
      this.#loaded = true;
      take(answer.conversations, answer);
    } catch (error) {
      this.#trouble = { error, again: () => this.#load(cursor, take) };
    }
    this.#draw();
  }

  #put(conversations) {
    const ids = new Set(conversations.map(({ id }) => id));
    this.#list = [...conversations, ...this.#list.filter(({ id }) => !ids.has(id))];
    this.#list.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  async #rename({ id, title }) {
    let renamed;
    const submit = async (value) => {
      const length = scalarCount(value);
      if (length < 1 || length > LONGEST_TITLE) throw new Error(`A title has 1 to ${LONGEST_TITLE} characters.`);
      renamed = await inWords(renameConversation(id, value));
    };
    const entered = await ask("rename-dialog", { value: title, submit });
    this.#focus(id);
    if (entered === null) return;
    this.update(renamed.conversation ?? renamed);
    this.#onRenamed(id);
  }

  async #delete({ id, title }) {
    const submit = () => inWords(deleteConversation(id).catch(ignoreGone));
    const confirmed = await ask("delete-dialog", { words: { title }, submit });
    this.#focus(id);
    if (confirmed === null) return;
    this.#list = this.#list.filter((known) => known.id !== id);
    this.#draw();
    byId("new-chat").focus();
    this.#onDeleted(id);
  }

  /** The buttons of an item show while it has the focus only, so a closed dialog cannot give it back to them. */
  #focus(id) {
    this.#place.querySelector(`[data-focus="${id}"]`)?.focus();
  }

  /** Draws the list anew; the focus stays on what it was on. */
  #draw() {
    const focus = this.#place.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.#place.replaceChildren(...this.#groups(), ...this.#end());
    if (focus) this.#place.querySelector(`[data-focus="${focus}"]`)?.focus();
  }

  #groups() {
    const now = new Date();
    const groups = new Map();
    for (const conversation of this.#list) {
      const age = ageWords(new Date(conversation.updatedAt), now);
      if (!groups.has(age)) groups.set(age, el("ul", { "aria-label": age }));
      groups.get(age).append(this.#item(conversation));
    }
    return [...groups].flatMap(([age, list]) => [el("h3", {}, age), list]);
  }

  #item(conversation) {
    const id = conversation.id;
    const title = conversation.title || "Untitled";
    const open = el(
      "a",
      {
        href: `#/c/${id}`,
        title,
        dir: "auto",
        "data-focus": id,
        "aria-current": id === this.#current && "page",
      },
      title,
    );
    const rename = iconButton(`Rename ${title}`, "pencil", () => this.#rename(conversation));
    const remove = iconButton(`Delete ${title}`, "trash", () => this.#delete(conversation));
    rename.dataset.focus = `rename-${id}`;
    remove.dataset.focus = `delete-${id}`;
    return el("li", { class: id === this.#current && "current" }, open, rename, remove);
  }

  #end() {
    if (this.#trouble) {
      const { error, again } = this.#trouble;
      return [
        el("p", { class: "trouble", role: "alert" }, errorWords(error)),
        button("Try again", again, { name: "reload" }),
      ];
    }
    if (this.#cursor !== null) return [button("More", () => this.#more(), { kind: "text more" })];
    return this.#loaded && this.#list.length === 0
      ? [el("p", { class: "empty" }, "Your conversations will be listed here.")]
      : [];
  }
}

/** A failure of the request as an error whose message can be shown. */
function inWords(request) {
  return request.catch((error) => {
    throw new Error(errorWords(error));
  });
}

/** What is gone already needs no deleting. */
function ignoreGone(error) {
  if (error.status !== 404) throw error;
}
