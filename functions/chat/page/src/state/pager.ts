// One list of the server, page by page: the conversations that a filter selects.

import { signal } from "@preact/signals";

import { ApiError, listConversations } from "../api/client.ts";
import type { Conversation, Filter } from "../api/types.ts";

/** What has been loaded of a list. */
interface Loaded {
  items: Conversation[];
  cursor: string | null;
  loaded: boolean;
  failure: ApiError | null;
}

/** A list. */
export class Pager {
  readonly filter: Filter;
  #state = signal<Loaded>({ items: [], cursor: null, loaded: false, failure: null });
  #loading = false;
  #retry = () => this.first();

  constructor(filter: Filter) {
    this.filter = filter;
  }

  /** What has been loaded; a component that reads it is rendered again when it changes. */
  get state(): Loaded {
    return this.#state.value;
  }

  /**
   * Loads the first page again and keeps the older conversations that were loaded after it, and archived ones.
   *
   * Pinned conversations come from a list of their own, because the first page may not contain them.
   */
  first(): Promise<void> {
    return this.#load(this.first, async () => {
      const page = await listConversations(null, this.filter);
      const oldest = page.conversations.at(-1)?.updatedAt ?? "";
      const complete = page.nextCursor === null;
      const pinned = complete || Object.keys(this.filter).length > 0 ? [] : await readPinned();
      const { items, cursor } = this.state;
      const archived = items.filter((item) => item.archived && !this.filter.archived);
      const older = items.filter((item) => !complete && !item.archived && item.updatedAt < oldest).map((item) => (item.pinned ? { ...item, pinned: false } : item));
      const parts = [archived, older, pinned, page.conversations];
      return { items: parts.reduce((all, part) => this.#merge(all, part), []), cursor: older.length === 0 ? page.nextCursor : cursor };
    });
  }

  /** Loads the next page, if there is one that can be loaded now. */
  async next(): Promise<void> {
    const { cursor, failure } = this.state;
    if (cursor === null || this.#loading || failure) return;
    await this.#load(this.next, async () => {
      const page = await listConversations(cursor, this.filter);
      return { items: this.#merge(this.state.items, page.conversations), cursor: page.nextCursor };
    });
  }

  /** Repeats the last load if it failed. */
  async retry(): Promise<void> {
    if (this.state.failure) await this.#retry();
  }

  /** Adds a conversation, or replaces the one with the same id. */
  add(conversation: Conversation): void {
    this.#set({ items: this.#merge(this.state.items, [conversation]) });
  }

  /** Removes a conversation. */
  remove(id: string): void {
    this.#set({ items: this.state.items.filter((known) => known.id !== id) });
  }

  find(id: string): Conversation | undefined {
    return this.state.items.find((known) => known.id === id);
  }

  #set(change: Partial<Loaded>): void {
    this.#state.value = { ...this.#state.peek(), ...change };
  }

  /** The conversations in the list's order, those of `added` instead of known ones. */
  #merge(known: Conversation[], added: Conversation[]): Conversation[] {
    const ids = new Set(added.map(({ id }) => id));
    const rank = ({ pinned }: Conversation) => (pinned && !this.filter.q ? 0 : 1);
    const all = [...added, ...known.filter(({ id }) => !ids.has(id))];
    return all.sort((a, b) => rank(a) - rank(b) || (a.updatedAt < b.updatedAt ? 1 : -1));
  }

  async #load(retry: () => Promise<void>, load: () => Promise<Pick<Loaded, "items" | "cursor">>): Promise<void> {
    this.#loading = true;
    try {
      this.#set({ ...(await load()), failure: null, loaded: true });
    } catch (error) {
      this.#retry = retry;
      this.#set({ failure: ApiError.from(error) });
    }
    this.#loading = false;
  }
}

async function readPinned(): Promise<Conversation[]> {
  const pinned: Conversation[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listConversations>> = await listConversations(cursor, { pinned: true });
    pinned.push(...page.conversations.filter((conversation) => conversation.pinned));
    // An earlier version of the server, which answers during an upgrade, lists all conversations.
    cursor = page.conversations.every((conversation) => conversation.pinned) ? page.nextCursor : null;
  } while (cursor !== null);
  return pinned;
}
