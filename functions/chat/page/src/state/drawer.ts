// The sidebar with the list: a collapsible column next to the chat, or a drawer over it on a narrow screen.

import { signal } from "@preact/signals";

import { byId } from "../view/dom.ts";

const NARROW = window.matchMedia("(max-width: 760px)");

const stored = () => !NARROW.matches && localStorage.getItem("list") !== "closed";

/** Whether the sidebar covers the chat. */
export const isNarrow = signal(NARROW.matches);

/** Whether the sidebar is open. */
export const isSidebarOpen = signal(stored());

/** Whether the user has opened or closed it, so that it moves. */
export const isSidebarMoving = signal(false);

NARROW.addEventListener("change", () => {
  isNarrow.value = NARROW.matches;
  isSidebarOpen.value = stored();
});

/** Opens or closes the sidebar. */
export function setSidebar(open: boolean): void {
  if (!NARROW.matches) localStorage.setItem("list", open ? "open" : "closed");
  isSidebarMoving.value = true;
  isSidebarOpen.value = open;
  // What is inert takes the focus only after it was rendered.
  queueMicrotask(() => byId(open ? "new-chat" : "toggle-list").focus());
}

/** Closes the drawer on a narrow screen; returns whether it was open. */
export function dismissDrawer(): boolean {
  if (!NARROW.matches || !isSidebarOpen.value) return false;
  setSidebar(false);
  return true;
}

/** Opens the sidebar if it is closed. */
export function showSidebar(): void {
  if (!isSidebarOpen.value) setSidebar(true);
}
