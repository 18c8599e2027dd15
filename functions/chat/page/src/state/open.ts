// The open conversation: its id, and whether it is temporary. The address names it.

import { signal } from "@preact/signals";

/** The id of the open conversation; null before it has one. */
export const openId = signal<string | null>(null);

/** Whether the open conversation is temporary, or the next message begins a temporary one. */
export const isTemporary = signal(false);

let nextIsTemporary = false;

/** Opens a new conversation. */
export function startNew(temporary = false): void {
  nextIsTemporary = temporary;
  if (location.hash === "#/") dispatchEvent(new Event("hashchange"));
  else location.hash = "#/";
}

/** Whether the conversation that opens now begins as a temporary one. */
export function takeTemporary(): boolean {
  const taken = nextIsTemporary;
  nextIsTemporary = false;
  return taken;
}
