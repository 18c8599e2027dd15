// Lists of the administration: pages of rows from the server, tables, cards and their actions.

import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { request } from "../api/client.ts";
import { failureText } from "../view/failures.ts";
import { formatDate, t } from "../i18n/index.ts";
import { Button, Icon } from "../view/controls.tsx";
import { openDialog } from "../view/dialog.ts";
import type { IconName } from "../view/dom.ts";
import { texts } from "./texts.ts";

/** What has been loaded of a list; null before the first page. */
interface Pages<Item> {
  items: Item[] | null;
  failure: string;
  /** Loads the first page again. */
  refresh: () => Promise<void>;
  /** Loads the next page; missing after the last one. */
  next: (() => Promise<void>) | null;
}

/** Loads a list page by page, and again when the query changes; `name` is its field in the response. */
export function usePages<Item>(name: string, path: string, query: Record<string, string> = {}): Pages<Item> {
  const items = useSignal<Item[] | null>(null);
  const cursor = useSignal<string | null>(null);
  const failure = useSignal("");
  const selection = useRef("");
  selection.current = JSON.stringify(query);
  const load = async (from: string | null) => {
    const selected = selection.current;
    try {
      const parameters = new URLSearchParams({ ...query, ...(from !== null && { cursor: from }) });
      const page = await request<Record<string, Item[]> & { nextCursor?: string | null }>("GET", `${path}?${parameters}`);
      // A later choice has its own rows.
      if (selected !== selection.current) return;
      items.value = [...(from === null ? [] : (items.value ?? [])), ...(page[name] ?? [])];
      [cursor.value, failure.value] = [page.nextCursor ?? null, ""];
    } catch (thrown) {
      failure.value = failureText(thrown);
    }
  };
  const refresh = () => load(null);
  useEffect(() => void refresh(), [selection.current]);
  return { items: items.value, failure: failure.value, refresh, next: cursor.value === null ? null : () => load(cursor.value) };
}

interface LoadedProps<Item> {
  pages: Pages<Item>;
  /** What is above the items. */
  head?: ComponentChildren;
  children: (items: Item[]) => ComponentChildren;
}

/** A panel: the loaded items, which `children` shows if there are any, or why there are none. */
export function Loaded<Item>({ pages, head, children }: LoadedProps<Item>) {
  const { items, failure, next } = pages;
  const error = failure && <p class="field-error" role="alert">{failure}</p>;
  if (items === null) return error || <p>{t.loading}</p>;
  return (
    <>
      {head}
      {items.length === 0 ? <div><p>{texts.none}</p></div> : children(items)}
      {error}
      {next && <Button onClick={() => void next()}>{t.list.more}</Button>}
    </>
  );
}

interface TableProps {
  label: string;
  columns: readonly string[];
  rows: ComponentChildren[][];
  /** How many of the last columns have numbers. */
  numbers?: number;
}

/** A table that scrolls sideways on a narrow screen. */
export function Table({ label, columns, rows, numbers = 0 }: TableProps) {
  const kind = (at: number) => (at < columns.length - numbers ? undefined : "number");
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={label}>
      <table class="admin-table">
        <thead><tr>{columns.map((column, at) => (column ? <th scope="col" class={kind(at)}>{column}</th> : <td />))}</tr></thead>
        <tbody>{rows.map((cells) => <tr>{cells.map((cell, at) => <td class={kind(at)}>{cell}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

/** One definition with its actions. */
export function Card({ title, notes, text, children }: { title: string; notes: string[]; text: string; children: ComponentChildren }) {
  return (
    <li>
      <div class="admin-card">
        <div><strong>{title}</strong> <span class="dim">{notes.filter(Boolean).join(" · ")}</span></div>
        {text && <p>{text}</p>}
      </div>
      <div class="row">{children}</div>
    </li>
  );
}

/** An action of a row; its accessible name also names the row. */
export function RowAction({ label, name, kind = "text", run }: { label: string; name: string; kind?: string; run: () => void }) {
  return <Button kind={kind} aria-label={t.labelled(label, name)} onClick={run}>{label}</Button>;
}

/** The way to a form: with a name that of a row, else with an icon. */
export function FormLink({ label, name, href, icon = "new" }: { label: string; name?: string; href: string; icon?: IconName }) {
  if (name === undefined) return <a class="button quiet" href={href}><Icon name={icon} />{label}</a>;
  return <a class="button text" aria-label={t.labelled(label, name)} href={href}>{label}</a>;
}

/** The deletion of a row, after a confirmation. */
export function RemoveAction({ name, path, onRemoved }: { name: string; path: string; onRemoved: () => void }) {
  const act = async () => {
    await request("DELETE", path);
    onRemoved();
  };
  const run = () => confirm(texts.removeTitle(name), texts.removeText, t.list.delete, act);
  return <RowAction label={t.list.delete} name={name} kind="text risky" run={run} />;
}

/** Acts after a confirmation; a failure is shown in the dialog. */
export function confirm(title: string, text: string, label: string, act: () => Promise<void>): void {
  void openDialog({ id: "confirm-dialog", title, content: <p>{text}</p>, submit: { label, kind: "danger" }, onSubmit: act });
}

interface FilterProps {
  id: string;
  label: string;
  submit: string;
  value: Signal<string>;
  pages: Pages<unknown>;
}

/** A form of one field that selects what a list has; the same value again loads the list again. */
export function Filter({ id, label, submit, value, pages }: FilterProps) {
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = (document.getElementById(id) as HTMLInputElement).value.trim();
    if (text === value.value) void pages.refresh();
    value.value = text;
  };
  return (
    <form class="admin-filter" onSubmit={onSubmit}>
      <label for={id}>{label}</label>
      <input type="search" id={id} autocomplete="off" spellcheck={false} />
      <button type="submit" class="button">{submit}</button>
    </form>
  );
}

/** A date and a time in the page's language. */
export function timeText(value: string | null | undefined): string {
  if (!value) return "";
  return formatDate(value);
}
