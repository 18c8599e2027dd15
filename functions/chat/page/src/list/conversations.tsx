// The list of conversations: pinned ones first, then by age, loaded on scroll; a search or the archive replaces it.

import { Fragment } from "preact";
import { useLayoutEffect } from "preact/hooks";

import { ageGroup, errorText } from "../answer/strings.ts";
import type { Conversation } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { isArchive, marks, query, retryLists, showView, shown } from "../state/lists.ts";
import { openId } from "../state/open.ts";
import { Button } from "../view/controls.tsx";
import { byId } from "../view/dom.ts";
import { Part, type RowProps } from "./rows.tsx";

/** The delay between a key in the search box and the request, in milliseconds. */
const SEARCH_DELAY_MS = 250;

const ROWS_PER_PART = 50;

let searchTimer: ReturnType<typeof setTimeout> | undefined;

const container = () => byId("conversations");
const focusRow = (id: string) => container().querySelector<HTMLElement>(`[data-focus="${id}"]`)?.focus();
const rowLinks = () => [...container().querySelectorAll<HTMLElement>("a[data-focus]")];

/** Shows the archive, or the list again. */
export function showArchive(archived: boolean): void {
  search(archived);
  // The focus of the search box would open the keyboard of a touch screen.
  queueMicrotask(() => container().querySelector<HTMLElement>("button, a")?.focus());
}

function search(archived = isArchive.value): void {
  clearTimeout(searchTimer);
  showView(archived);
  container().scrollTop = 0;
}

/** Handles a key in the search box: Escape empties it; the arrow leads to the first result. */
function onSearchKey(event: KeyboardEvent): void {
  if (event.isComposing) return;
  if (event.key === "ArrowDown") container().querySelector("a")?.focus();
  else if (event.key === "Enter") search();
  else if (event.key === "Escape" && query.value !== "") {
    query.value = "";
    search();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The search box. */
export function SearchBox() {
  const onInput = (text: string) => {
    query.value = text;
    clearTimeout(searchTimer);
    searchTimer = setTimeout(search, text === "" ? 0 : SEARCH_DELAY_MS);
  };
  return (
    <input
      type="search"
      id="search"
      value={query.value}
      placeholder={t.list.searchShort}
      aria-label={isArchive.value ? t.list.searchArchive : t.list.search}
      autocomplete="off"
      maxLength={200}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
      onKeyDown={onSearchKey}
    />
  );
}

/** The shown list. */
export function ConversationList() {
  useKeptFocus();
  const { state, filter } = shown.value;
  const now = new Date();
  // Conversations that have moved into the archive or out of it since are in another list.
  const items = state.items.filter((conversation) => (conversation.archived ?? false) === isArchive.value);
  const groups = new Map<string, Conversation[]>();
  for (const conversation of items) {
    const { pinned, updatedAt } = conversation;
    const name = filter.q ? t.list.results : pinned ? t.list.pinned : ageGroup(new Date(updatedAt), now);
    const group = groups.get(name) ?? [];
    group.push(conversation);
    groups.set(name, group);
  }
  return (
    <div id="conversations">
      {isArchive.value && (
        <div class="archive-head">
          <h2>{t.list.archiveTitle}</h2>
          <Button kind="text" onClick={() => showArchive(false)}>{t.list.back}</Button>
        </div>
      )}
      {[...groups].map(([name, conversations]) => (
        <Fragment key={name}>
          <h3>{name}</h3>
          {inParts(conversations).map((part, at) => <Part key={at} label={name} rows={part.map(row)} />)}
        </Fragment>
      ))}
      <ListEnd count={items.length} />
    </div>
  );
}

function row(conversation: Conversation): RowProps {
  const current = conversation.id === openId.value;
  return { conversation, current, mark: current ? undefined : marks.value.get(conversation.id) };
}

/** A long list in parts, of which the browser lays out those that are near. */
const inParts = (list: Conversation[]) => Array.from({ length: Math.ceil(list.length / ROWS_PER_PART) }, (_, at) => list.slice(at * ROWS_PER_PART, (at + 1) * ROWS_PER_PART));

/** Keeps the focus in the list; a row that leaves gives it to the row at its position. */
function useKeptFocus(): void {
  const active = document.activeElement;
  const list = document.getElementById("conversations");
  const focus = active instanceof HTMLElement && list?.contains(active) ? active.dataset.focus : undefined;
  const position = focus ? rowLinks().findIndex((link) => focus.endsWith(link.dataset.focus ?? "")) : -1;
  useLayoutEffect(() => {
    if (!focus || document.activeElement === active) return;
    focusRow(focus);
    if (container().contains(document.activeElement)) return;
    (rowLinks().slice(0, position + 1).at(-1) ?? byId("search")).focus();
  });
}

/** The end of the list: the next page, a failure, or that there is nothing. */
function ListEnd({ count }: { count: number }) {
  const { failure, cursor, loaded } = shown.value.state;
  const { q } = shown.value.filter;
  if (failure) {
    return (
      <>
        <p class="load-error" role="alert">{errorText(failure)}</p>
        <Button icon="reload" onClick={() => void retryLists()}>{t.retry}</Button>
      </>
    );
  }
  if (cursor !== null) return <More label={count > 0 ? t.list.more : t.loading} />;
  if (!loaded) return q || isArchive.value ? <p class="empty">{t.loading}</p> : null;
  return count === 0 ? <p class="empty">{q ? t.list.nothing : isArchive.value ? t.list.archiveEmpty : t.list.empty}</p> : null;
}

/** The button to the next page, which is loaded when it comes near; observing it again reports one that is near already. */
function More({ label }: { label: string }) {
  const pager = shown.value;
  const { state } = pager;
  useLayoutEffect(() => {
    const onSeen: IntersectionObserverCallback = (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void pager.next();
    };
    const observer = new IntersectionObserver(onSeen, { root: container(), rootMargin: "800px 0px" });
    for (const button of container().querySelectorAll(":scope > .more")) observer.observe(button);
    return () => observer.disconnect();
  }, [state]);
  const load = async () => {
    const before = new Set(pager.state.items.map(({ id }) => id));
    await pager.next();
    const added = pager.state.items.find(({ id }) => !before.has(id));
    if (added) queueMicrotask(() => focusRow(added.id));
  };
  return <Button kind="text more" onClick={() => void load()}>{label}</Button>;
}
