// The palette: finds conversations and runs commands. Its box is an ARIA combobox with a list that is always open.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { listConversations } from "../api/client.ts";
import type { Conversation } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { Snippet } from "../list/rows.tsx";
import { addressOf } from "../state/address.ts";
import { recentConversations } from "../state/lists.ts";
import { Icon } from "../view/controls.tsx";
import { showModal } from "../view/dialog.ts";
import { commandGroups, type Choice, type Group } from "./commands.ts";
import { texts } from "./texts.ts";

/** The delay between a key and the search on the server, in milliseconds. */
const SEARCH_DELAY_MS = 200;

/** The number of conversations in the list, and of recent ones before a search. */
const MAX_CONVERSATIONS = 8;
const MAX_RECENT = 5;

/** Opens the palette with a query. */
export function openPalette(typed: string): void {
  if (document.getElementById("palette")) return;
  const groups = commandGroups();
  const dialog = showModal({ id: "palette", "aria-label": t.shell.palette }, (close) => <Palette groups={groups} typed={typed} close={close} />);
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.querySelector("input")?.focus();
}

/** Whether a text contains all parts of a query. */
function containsAll(q: string): (text: string) => boolean {
  const parts = q.toLowerCase().split(/\s+/);
  return (text) => parts.every((part) => text.toLowerCase().includes(part));
}

function Palette({ groups: commands, typed, close }: { groups: Group[]; typed: string; close: () => void }) {
  const [query, selected] = [useSignal(typed), useSignal(0)];
  /** What the server found for the query; without it the list has what this page knows. */
  const found = useSignal<Conversation[] | null>(null);
  const q = query.value.trim();
  useLayoutEffect(() => {
    [selected.value, found.value] = [0, null];
    if (q === "") return;
    const find = async () => {
      const page = await listConversations(null, { q }).catch(() => null);
      if (page && query.value.trim() === q) found.value = page.conversations;
    };
    const timer = setTimeout(() => void find(), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [q]);
  const groups = matchingGroups(commands, q, found.value ?? []);
  const choices = groups.flatMap((group) => group.choices);
  const at = Math.max(0, Math.min(selected.value, choices.length - 1));
  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    close();
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.keyCode === 229) return;
    const step = { ArrowDown: 1, ArrowUp: choices.length - 1 }[event.key];
    if (step !== undefined && choices.length > 0) selected.value = (at + step) % choices.length;
    else if (event.key === "Enter") run(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <SearchBox query={query.value} selected={choices.length > 0 ? `palette-${at}` : ""} onInput={(text) => (query.value = text)} onKeyDown={onKeyDown} />
      <div id="palette-list" role="listbox" aria-label={t.shell.palette} hidden={choices.length === 0}>
        {groups.map((group) => (
          <div key={group.name} role="group" aria-label={group.name}>
            <p class="menu-heading" aria-hidden="true">{group.name}</p>
            {group.choices.map((choice) => {
              const index = choices.indexOf(choice);
              return <Option key={index} index={index} choice={choice} isSelected={index === at} onSelect={() => (selected.value = index)} onRun={() => run(choice)} />;
            })}
          </div>
        ))}
      </div>
      <p class="palette-empty" hidden={choices.length > 0}>{texts.palette.nothing}</p>
      <p class="offscreen" role="status">{found.value && texts.palette.results(choices.length)}</p>
    </>
  );
}

interface SearchBoxProps {
  query: string;
  /** The id of the selected option; empty without one. */
  selected: string;
  onInput: (text: string) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

function SearchBox({ query, selected, onInput, onKeyDown }: SearchBoxProps) {
  return (
    <div class="palette-head">
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        value={query}
        aria-label={texts.palette.placeholder}
        aria-expanded={selected !== ""}
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={selected}
        placeholder={texts.palette.placeholder}
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

interface OptionProps {
  index: number;
  choice: Choice;
  isSelected: boolean;
  onSelect: () => void;
  onRun: () => void;
}

function Option({ index, choice, isSelected, onSelect, onRun }: OptionProps) {
  const root = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isSelected) root.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <div role="option" id={`palette-${index}`} aria-selected={isSelected} ref={root} onPointerMove={onSelect} onClick={onRun}>
      <Icon name={choice.iconName} />
      <span class="palette-text" dir="auto">
        <span>{choice.label}</span>
        {choice.detail && <small><Snippet text={choice.detail} /></small>}
      </span>
    </div>
  );
}

/** The commands that match, and conversations: before the commands only while the box is empty. */
function matchingGroups(commands: Group[], q: string, found: Conversation[]): Group[] {
  const contains = containsAll(q);
  const ids = new Set(found.map(({ id }) => id));
  const recent = recentConversations();
  const known = q === "" ? recent.slice(0, MAX_RECENT) : recent.filter(({ id, title }) => contains(title) && !ids.has(id));
  const conversations = {
    name: q === "" ? texts.palette.recent : texts.palette.conversations,
    choices: [...found, ...known].slice(0, MAX_CONVERSATIONS).map(conversationChoice),
  };
  const matching = commands.map(({ name, choices }) => ({ name, choices: choices.filter(({ label }) => contains(label)) }));
  const groups = q === "" ? [conversations, ...matching] : [...matching, conversations];
  return groups.filter(({ choices }) => choices.length > 0);
}

function conversationChoice({ id, title, matches = [] }: Conversation): Choice {
  const [first] = matches;
  const run = () => {
    location.hash = addressOf(id, first?.messageId);
  };
  return { label: title || t.untitled, iconName: "list", run, ...(first && { detail: first.snippet }) };
}
