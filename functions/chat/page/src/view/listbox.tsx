// A button that opens a panel with one or more listboxes; the keyboard follows the ARIA listbox pattern.

import { useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { Icon } from "./controls.tsx";

/** One choice of a group. */
export interface Option {
  value: string;
  label: string;
  description?: string | undefined;
}

/** A group of choices, of which one is selected. */
export interface Group {
  name: string;
  options: Option[];
  selected: string;
  /** The choice that the button does not name: without another one it has a magnifier, and leaves its place to the text. */
  quiet?: string;
  onSelect: (value: string) => void;
}

/** The button and its panel; without a group of several choices it is hidden. `describe` makes the accessible name. */
export function ListboxMenu({ groups, describe }: { groups: Group[]; describe: (label: string) => string }) {
  const root = useRef<HTMLDivElement>(null);
  const open = useSignal(false);
  const shown = groups.filter(({ options }) => options.length > 1);
  const named = shown.filter(({ selected, quiet }) => selected !== quiet || shown.length === 1);
  const labels = named.map(({ options, selected }) => options.find(({ value }) => value === selected)?.label);
  const label = labels.filter(Boolean).join(" · ");
  useLayoutEffect(() => root.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus(), [open.value]);
  const close = () => {
    open.value = false;
    root.current?.querySelector("button")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open.value || !moveInOptions(event, [...(root.current?.querySelectorAll<HTMLElement>('[role="option"]') ?? [])], close)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onFocusOut = ({ relatedTarget }: FocusEvent) => {
    if (!root.current?.contains(relatedTarget as Node | null)) open.value = false;
  };
  return (
    <div class="menu" ref={root} hidden={shown.length === 0} onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      <button
        type="button"
        class="menu-button"
        aria-haspopup="listbox"
        aria-expanded={open.value}
        aria-label={describe(label)}
        title={describe(label)}
        onClick={() => (open.value ? close() : (open.value = true))}
      >
        {named.some(({ selected, quiet }) => selected !== quiet) ? <span class="menu-label">{label}</span> : <Icon name="search" />}
        <Icon name="chevron" />
      </button>
      {open.value && <div class="menu-panel">{shown.map((group) => <GroupList key={group.name} group={group} close={close} />)}</div>}
    </div>
  );
}

/** Handles a key in the open panel; returns whether it did. */
function moveInOptions({ key }: KeyboardEvent, options: HTMLElement[], close: () => void): boolean {
  const at = options.indexOf(document.activeElement as HTMLElement);
  const last = options.length - 1;
  const targets: Record<string, number> = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last };
  const target = targets[key];
  if (target !== undefined) options[target]?.focus();
  else if (key === "Escape") close();
  else if ((key === "Enter" || key === " ") && at >= 0) options[at]?.click();
  else return false;
  return true;
}

function GroupList({ group, close }: { group: Group; close: () => void }) {
  const choose = (value: string) => {
    close();
    group.onSelect(value);
  };
  return (
    <Fragment>
      <p class="menu-heading" aria-hidden="true">{group.name}</p>
      <div role="listbox" aria-label={group.name}>
        {group.options.map(({ value, label, description }) => {
          const selected = value === group.selected;
          return (
            <div key={value} role="option" class="menu-option" tabIndex={selected ? 0 : -1} aria-selected={selected} onClick={() => choose(value)}>
              <span class="menu-option-label">{label}</span>
              {description && <span class="menu-option-text">{description}</span>}
              <Icon name="check" />
            </div>
          );
        })}
      </div>
    </Fragment>
  );
}
