// The list's place: a column beside the chat that can be folded, a drawer over it on a narrow screen.

import { byId } from "./dom.js";

const NARROW = window.matchMedia("(max-width: 760px)");

/** The place of the list. */
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
  get open() {
    return this.#page.dataset.list === "open";
  }

  /** Closes the list where it lies over the chat; returns whether it did. */
  dismiss() {
    if (!NARROW.matches || !this.open) return false;
    this.#set(false);
    return true;
  }

  #restore() {
    const folded = NARROW.matches || localStorage.getItem("list") === "closed";
    this.#apply(!folded);
  }

  #set(open) {
    if (!NARROW.matches) localStorage.setItem("list", open ? "open" : "closed");
    this.#page.classList.add("moving");
    this.#apply(open);
    if (open) byId("new-chat").focus();
    else this.#toggle.focus();
  }

  /** What is covered or folded away can be reached neither by keyboard nor by a screen reader. */
  #apply(open) {
    this.#page.dataset.list = open ? "open" : "closed";
    this.#list.inert = !open;
    this.#main.inert = open && NARROW.matches;
    this.#toggle.setAttribute("aria-expanded", String(open));
  }
}
