// The list of conversations: newest first, grouped by age, paginated; the user can open, rename and delete each.

import { deleteConversation, listConversations, renameConversation } from "./api.js";
import { openDialog } from "./dialogs.js";
import { button, byId, el, iconButton } from "./dom.js";
import { ageGroup, errorText, scalarCount } from "./strings.js";

const MAX_TITLE_CHARS = 200;

/** The list; it calls `onRenamed` and `onDeleted` with the id of a conversation that the user changed. */
export class Conversations {
  #container = byId("conversations");
  #list = [];
  #cursor = null;
  #current = null;
  #failure = null;
  #loaded = false;
  #onRenamed;
  #onDeleted;

  constructor({ onRenamed, onDeleted }) {
    this.#onRenamed = onRenamed;
    this.#onDeleted = onDeleted;
  }

  /** Reloads the first page and keeps the older conversations that were loaded after it. */
  async refresh() {
    await this.#load(null, (page, { nextCursor }) => {
      const oldest = page.at(-1)?.updatedAt ?? "";
      const older = nextCursor === null ? [] : this.#list.filter(({ updatedAt }) => updatedAt < oldest);
      if (older.length === 0) this.#cursor = nextCursor;
      this.#list = [];
      this.#upsert([...page, ...older]);
    });
  }

  /** Repeats the last load if it failed. */
  async retry() {
    await this.#failure?.retry();
  }

  /** Adds a conversation to the list or merges its changed fields. */
  update(conversation) {
    const known = this.#list.find(({ id }) => id === conversation.id);
    this.#upsert([{ ...known, ...conversation }]);
    this.#render();
  }

  /** Marks the open conversation. */
  mark(id) {
    this.#current = id;
    this.#render();
  }

  /** The title of a listed conversation, or null. */
  title(id) {
    return this.#list.find((known) => known.id === id)?.title || null;
  }

  async #loadMore() {
    await this.#load(this.#cursor, (page, { nextCursor }) => {
      this.#cursor = nextCursor;
      this.#upsert(page);
    });
  }

  async #load(cursor, onPage) {
    try {
      const response = await listConversations(cursor);
      this.#failure = null;
      this.#loaded = true;
      onPage(response.conversations, response);
    } catch (error) {
      this.#failure = { error, retry: () => this.#load(cursor, onPage) };
    }
    this.#render();
  }

  #upsert(conversations) {
    const ids = new Set(conversations.map(({ id }) => id));
    this.#list = [...conversations, ...this.#list.filter(({ id }) => !ids.has(id))];
    this.#list.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  async #rename({ id, title }) {
    let renamed;
    const submit = async (value) => {
      const length = scalarCount(value);
      if (length < 1 || length > MAX_TITLE_CHARS) throw new Error(`A title has 1 to ${MAX_TITLE_CHARS} characters.`);
      renamed = await withErrorText(renameConversation(id, value));
    };
    const value = await openDialog("rename-dialog", { value: title, submit });
    this.#focus(id);
    if (value === null) return;
    this.update(renamed.conversation ?? renamed);
    this.#onRenamed(id);
  }

  async #delete({ id, title }) {
    const submit = () => withErrorText(deleteConversation(id).catch(ignoreNotFound));
    const confirmed = await openDialog("delete-dialog", { texts: { title }, submit });
    this.#focus(id);
    if (confirmed === null) return;
    this.#list = this.#list.filter((known) => known.id !== id);
    this.#render();
    byId("new-chat").focus();
    this.#onDeleted(id);
  }

  /** Focuses an item. A closed dialog cannot restore the focus to the item's buttons, which are hidden by then. */
  #focus(id) {
    this.#container.querySelector(`[data-focus="${id}"]`)?.focus();
  }

  /** Renders the list and keeps the focus. */
  #render() {
    const focus = this.#container.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.#container.replaceChildren(...this.#groups(), ...this.#footer());
    if (focus) this.#container.querySelector(`[data-focus="${focus}"]`)?.focus();
  }

  #groups() {
    const now = new Date();
    const groups = new Map();
    for (const conversation of this.#list) {
      const age = ageGroup(new Date(conversation.updatedAt), now);
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

  #footer() {
    if (this.#failure) {
      const { error, retry } = this.#failure;
      return [
        el("p", { class: "load-error", role: "alert" }, errorText(error)),
        button("Try again", retry, { iconName: "reload" }),
      ];
    }
    if (this.#cursor !== null) return [button("More", () => this.#loadMore(), { kind: "text more" })];
    return this.#loaded && this.#list.length === 0
      ? [el("p", { class: "empty" }, "Your conversations will be listed here.")]
      : [];
  }
}

/** Converts a failed request into an error whose message can be shown. */
function withErrorText(request) {
  return request.catch((error) => {
    throw new Error(errorText(error));
  });
}

/** Treats a missing conversation as deleted. */
function ignoreNotFound(error) {
  if (error.status !== 404) throw error;
}
