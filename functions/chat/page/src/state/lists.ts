// The conversations that the page knows: the list, a search or the archive instead of it, and the title of the open one.

import { computed, effect, signal } from "@preact/signals";

import { announce } from "../view/dom.ts";
import type { Conversation } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { addressOf, isAdministration } from "./address.ts";
import { isTemporary, openId } from "./open.ts";
import { Pager } from "./pager.ts";
import { notifyTabs } from "./tabs.ts";

const all = new Pager({});

/** The result of a search or the archive, while one is shown. */
const view = signal<Pager | null>(null);

/** The text of the search box. */
export const query = signal("");

/** Whether the archive is shown, or a search in it. */
export const isArchive = signal(false);

/** The shown list. */
export const shown = computed(() => view.value ?? all);

/** A conversation that a list has seen. */
export const find = (id: string) => view.value?.find(id) ?? all.find(id);

/** The open conversation, if a list has seen it. */
export const openConversation = computed(() => (openId.value === null ? undefined : find(openId.value)));

/** The title of the open conversation; null without one. */
export const title = computed(() => (isTemporary.value ? t.temporary.title : openConversation.value?.title || null));

/** The conversations of the list that are loaded, the last updated first. */
export function recentConversations(): Conversation[] {
  return all.state.items.filter(({ archived }) => !archived).sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
}

/** What happens to an answer of a conversation that is not open: it is being written, or has ended and was not seen. */
export type Mark = "running" | "unread";

/** The marked conversations. */
export const marks = signal<ReadonlyMap<string | null, Mark>>(new Map());

/** Marks a conversation; without a mark, removes it. */
export function setMark(id: string | null, mark?: Mark): void {
  const others = [...marks.peek()].filter(([marked]) => marked !== id);
  marks.value = new Map(mark ? [...others, [id, mark]] : others);
}

/** Loads the first page again. */
export const refreshList = () => all.first();

/** Repeats the loads that failed. */
export const retryLists = () => Promise.all([all.retry(), view.value?.retry()]);

/** Adds a conversation to the list or merges its changed fields. */
export function updateList(conversation: Partial<Conversation> & { id: string }): void {
  const { matches, ...known } = find(conversation.id) ?? {};
  const changed = { title: "", updatedAt: new Date().toISOString(), ...known, ...conversation };
  all.add(changed);
  if (view.value?.find(changed.id)) view.value.add({ ...changed, ...(matches && { matches }) });
}

/** Removes a deleted conversation, which may be open. */
export function recordDeletion(id: string): void {
  all.remove(id);
  view.value?.remove(id);
  setMark(id);
  if (openId.value === id) location.hash = "#/";
  notifyTabs(id);
}

/** Shows what the search box and the archive select. */
export function showView(archived: boolean): void {
  const q = query.value.trim();
  isArchive.value = archived;
  view.value = q === "" && !archived ? null : new Pager({ ...(q && { q }), ...(archived && { archived: true as const }) });
  if (view.value === null) return;
  void view.value.first();
  announceFound(view.value);
}

/** Announces how much a list has, once that is known: an empty page may not be the last one. */
function announceFound(pager: Pager): void {
  const end = effect(() => {
    const { items, cursor, loaded } = pager.state;
    const known = loaded && (items.length > 0 || cursor === null);
    if (known && view.peek() === pager) announce(t.list.found(items.length, cursor !== null));
    if (known || view.value !== pager) queueMicrotask(() => end());
  });
}

/** An answer that began, and its conversation. */
export interface Start {
  id: string;
  /** The title of a new conversation. */
  title: string | undefined;
  visible: boolean;
  temporary: boolean;
}

/** Shows that an answer began. */
export function recordStart({ id, title, visible, temporary }: Start): void {
  // Only a temporary one is open and not in the list.
  const listed = title === undefined ? find(id) : !temporary;
  if (listed) updateList({ id, ...(title && { title }), updatedAt: new Date().toISOString() });
  notifyTabs(id);
  if (visible && !isAdministration(location.hash)) history.replaceState(null, "", addressOf(id));
}

/** Shows the title that a model gave; a temporary conversation is in no list. */
export function recordTitle(id: string, title: string): void {
  if (find(id)) updateList({ id, title });
}

/** Shows a conversation as the server has it. */
export function recordConversation(conversation: Conversation): void {
  if (conversation.expiresAt === undefined) updateList(conversation);
}

/** Shows that something in a conversation changed, here and in other tabs. */
export function recordChange(id: string | null): void {
  void refreshList();
  notifyTabs(id);
}
