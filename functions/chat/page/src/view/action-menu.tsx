// A button that opens a menu of actions; the keyboard follows the ARIA menu button pattern.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

import { Icon, IconButton } from "./controls.tsx";
import type { IconName } from "./dom.ts";

/** One action of a menu. */
export interface Action {
  label: string;
  iconName: IconName;
  run: () => void;
}

interface MenuProps {
  label: string;
  /** The actions at the time of opening. */
  actions: () => Action[];
  id?: string;
  hidden?: boolean;
  /** The name by which the list finds the button again. */
  focusKey?: string;
}

/** The button; the menu is in the document only while it is open. */
export function ActionMenu({ label, actions, id, hidden, focusKey }: MenuProps) {
  const root = useRef<HTMLDivElement>(null);
  const open = useSignal<Action[] | null>(null);
  const opener = () => root.current?.querySelector("button");
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>(".menu-item") ?? [])];
  useLayoutEffect(() => items()[0]?.focus(), [open.value]);
  const choose = ({ run }: Action) => {
    open.value = null;
    // A dialog that the action opens gives the focus back to the button.
    opener()?.focus();
    run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open.value) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const at = items().indexOf(document.activeElement as HTMLElement);
    if (step !== undefined) items().at((at + step) % items().length)?.focus();
    else if (event.key === "Escape") {
      open.value = null;
      opener()?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onFocusOut = ({ relatedTarget }: FocusEvent) => {
    if (!root.current?.contains(relatedTarget as Node | null)) open.value = null;
  };
  return (
    <div class="menu actions-menu" id={id} hidden={hidden} ref={root} onKeyDown={onKeyDown} onFocusOut={onFocusOut}>
      <IconButton icon="more" label={label} aria-haspopup="menu" aria-expanded={open.value !== null} data-focus={focusKey} onClick={() => (open.value = open.value ? null : actions())} />
      {open.value && (
        <div class="menu-panel" role="menu" aria-label={label}>
          {open.value.map((action) => (
            <button key={action.label} type="button" class="menu-item" role="menuitem" onClick={() => choose(action)}>
              <Icon name={action.iconName} />
              {action.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
