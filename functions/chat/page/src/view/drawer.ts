// The sidebar with the list: a collapsible column next to the chat, or a drawer over it on a narrow screen.

import { byId } from "./dom.ts";

const NARROW = window.matchMedia("(max-width: 760px)");

/** Opens and closes the sidebar. */
export class Drawer {
  #page = byId("page");
  #list = byId("sidebar");
  #main = byId("main");
  #toggle = byId("toggle-list");

  constructor() {
    this.#toggle.addEventListener("click", () => this.#set(!this.open));
    byId("close-list").addEventListener("click", () => this.#set(false));
    byId("shade").addEventListener("click", () => this.#set(false));
    NARROW.addEventListener("change", () => this.#restore());
    this.#restore();
  }

  /** Whether the list is shown. */
  get open(): boolean {
    return this.#page.dataset.list === "open";
  }

  /** Closes the drawer on a narrow screen; returns whether it was open. */
  dismiss(): boolean {
    if (!NARROW.matches || !this.open) return false;
    this.#set(false);
    return true;
  }

  #restore(): void {
    const closed = NARROW.matches || localStorage.getItem("list") === "closed";
    this.#apply(!closed);
  }

  #set(open: boolean): void {
    if (!NARROW.matches) localStorage.setItem("list", open ? "open" : "closed");
    this.#page.classList.add("moving");
    this.#apply(open);
    if (open) byId("new-chat").focus();
    else this.#toggle.focus();
  }

  /** Sets the state; hidden parts become inert, so neither the keyboard nor a screen reader reaches them. */
  #apply(open: boolean): void {
    this.#page.dataset.list = open ? "open" : "closed";
    this.#list.inert = !open;
    this.#main.inert = open && NARROW.matches;
    this.#toggle.setAttribute("aria-expanded", String(open));
  }
}
