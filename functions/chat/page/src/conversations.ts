// The list of conversations: newest first, grouped by age, paginated; the user can open, rename and delete each.

import { ageGroup, errorText, scalarCount } from "./answer/strings.ts";
import { ApiError, deleteConversation, listConversations, renameConversation } from "./api/client.ts";
import type { Conversation } from "./api/types.ts";
import { t } from "./i18n/index.ts";
import { actionMenu } from "./view/action-menu.ts";
import { openDialog } from "./view/dialog.ts";
import { button, byId, el } from "./view/dom.ts";

const MAX_TITLE_CHARS = 200;

/** What the list calls with the id of a conversation that the user changed. */
export interface ConversationListeners {
  onRenamed: (id: string) => void;
  onDeleted: (id: string) => void;
}

type Page = Awaited<ReturnType<typeof listConversations>>;

/** The list. */
export class Conversations {
  #container = byId("conversations");
  #list: Conversation[] = [];
  #cursor: string | null = null;
  #current: string | null = null;
  #failure: { error: ApiError; retry: () => Promise<void> } | null = null;
  #loaded = false;
  #listeners: ConversationListeners;

  constructor(listeners: ConversationListeners) {
    this.#listeners = listeners;
  }

  /** Reloads the first page and keeps the older conversations that were loaded after it. */
  async refresh(): Promise<void> {
    await this.#load(null, ({ conversations, nextCursor }) => {
      const oldest = conversations.at(-1)?.updatedAt ?? "";
      const older = nextCursor === null ? [] : this.#list.filter(({ updatedAt }) => updatedAt < oldest);
      if (older.length === 0) this.#cursor = nextCursor;
      this.#list = [];
      this.#upsert([...conversations, ...older]);
    });
  }

  /** Repeats the last load if it failed. */
  async retry(): Promise<void> {
    await this.#failure?.retry();
  }

  /** Adds a conversation to the list or merges its changed fields. */
  update(conversation: Partial<Conversation> & { id: string }): void {
    const known = this.#list.find(({ id }) => id === conversation.id);
    this.#upsert([{ title: "", updatedAt: new Date().toISOString(), ...known, ...conversation }]);
    this.#render();
  }

  /** Marks the open conversation. */
  mark(id: string | null): void {
    this.#current = id;
    this.#render();
  }

  /** The title of a listed conversation, or null. */
  title(id: string): string | null {
    return this.#list.find((known) => known.id === id)?.title || null;
  }

  /** Loads the next page and focuses its first conversation. */
  async #loadMore(): Promise<void> {
    const before = new Set(this.#list.map(({ id }) => id));
    await this.#load(this.#cursor, ({ conversations, nextCursor }) => {
      this.#cursor = nextCursor;
      this.#upsert(conversations);
    });
    const added = this.#list.find(({ id }) => !before.has(id));
    if (added) this.#focus(added.id);
  }

  async #load(cursor: string | null, onPage: (page: Page) => void): Promise<void> {
    try {
      const page = await listConversations(cursor);
      this.#failure = null;
      this.#loaded = true;
      onPage(page);
    } catch (error) {
      this.#failure = { error: ApiError.from(error), retry: () => this.#load(cursor, onPage) };
    }
    this.#render();
  }

  #upsert(conversations: Conversation[]): void {
    const ids = new Set(conversations.map(({ id }) => id));
    this.#list = [...conversations, ...this.#list.filter(({ id }) => !ids.has(id))];
    this.#list.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  async #rename({ id, title }: Conversation): Promise<void> {
    let renamed: Conversation | undefined;
    const onSubmit = async (value: string) => {
      const length = scalarCount(value);
      if (length < 1 || length > MAX_TITLE_CHARS) throw new Error(t.list.titleLength(MAX_TITLE_CHARS));
      const answer = await withErrorText(renameConversation(id, value));
      renamed = answer.conversation ?? answer;
    };
    await openDialog({
      id: "rename-dialog",
      title: t.list.renameTitle,
      field: { label: t.list.title, value: title },
      submit: { label: t.list.rename },
      onSubmit,
    });
    this.#focus(id);
    if (!renamed) return;
    this.update(renamed);
    this.#listeners.onRenamed(id);
  }

  async #delete({ id, title }: Conversation): Promise<void> {
    const confirmed = await openDialog({
      id: "delete-dialog",
      title: t.list.deleteTitle,
      body: [el("p", { dir: "auto" }, t.list.deleteText(title || t.untitled))],
      submit: { label: t.list.delete, kind: "danger" },
      onSubmit: async () => {
        await withErrorText(deleteConversation(id).catch(ignoreNotFound));
      },
    });
    this.#focus(id);
    if (confirmed === null) return;
    this.#list = this.#list.filter((known) => known.id !== id);
    this.#render();
    byId("new-chat").focus();
    this.#listeners.onDeleted(id);
  }

  #focus(id: string): void {
    this.#container.querySelector<HTMLElement>(`[data-focus="${id}"]`)?.focus();
  }

  /** Renders the list and keeps the focus. */
  #render(): void {
    const active = document.activeElement;
    const focus = active instanceof HTMLElement && this.#container.contains(active) ? active.dataset.focus : undefined;
    this.#container.replaceChildren(...this.#groups(), ...this.#footer());
    if (focus) this.#focus(focus);
  }

  #groups(): HTMLElement[] {
    const now = new Date();
    const groups = new Map<string, HTMLElement>();
    for (const conversation of this.#list) {
      const age = ageGroup(new Date(conversation.updatedAt), now);
      const list = groups.get(age) ?? el("ul", { "aria-label": age });
      groups.set(age, list);
      list.append(this.#item(conversation));
    }
    return [...groups].flatMap(([age, list]) => [el("h3", {}, age), list]);
  }

  #item(conversation: Conversation): HTMLElement {
    const id = conversation.id;
    const title = conversation.title || t.untitled;
    const current = id === this.#current;
    const attributes = {
      href: `#/c/${id}`,
      title,
      dir: "auto",
      "data-focus": id,
      "aria-current": current && "page",
    };
    const menu = actionMenu(t.list.actions(title), [
      { label: t.list.rename, iconName: "pencil", run: () => void this.#rename(conversation) },
      { label: t.list.delete, iconName: "trash", run: () => void this.#delete(conversation) },
    ]);
    const opener = menu.querySelector("button");
    if (opener) opener.dataset.focus = `actions-${id}`;
    return el("li", { class: current && "current" }, el("a", attributes, title), menu);
  }

  #footer(): HTMLElement[] {
    if (this.#failure) {
      const { error, retry } = this.#failure;
      return [
        el("p", { class: "load-error", role: "alert" }, errorText(error)),
        button(t.retry, () => void retry(), { iconName: "reload" }),
      ];
    }
    if (this.#cursor !== null) return [button(t.list.more, () => void this.#loadMore(), { kind: "text more" })];
    return this.#loaded && this.#list.length === 0 ? [el("p", { class: "empty" }, t.list.empty)] : [];
  }
}

/** Converts a failed request into an error whose message can be shown. */
async function withErrorText<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw new Error(errorText(ApiError.from(error)));
  }
}

/** Treats a missing conversation as deleted. */
function ignoreNotFound(error: unknown): void {
  if (ApiError.from(error).status !== 404) throw error;
}
