// The column of messages: it scrolls with the growing answer until the user scrolls up.

import { byId, copyText, el } from "./dom.js";

/** The distance to the end, in pixels, within which scrolling down resumes following. */
const FOLLOW_DISTANCE = 32;

/** The messages on the page and their scroll position. */
export class Thread {
  #scroller = byId("scroller");
  #list = byId("messages");
  #jump = byId("jump");
  #following = true;
  #top = 0;

  constructor() {
    this.#scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    this.#jump.addEventListener("click", () => this.follow());
    this.#list.addEventListener("click", copyCode);
    const observer = new ResizeObserver(() => this.#updateScroll());
    observer.observe(this.#list);
    observer.observe(this.#scroller);
  }

  /** Removes everything. */
  clear() {
    this.#list.replaceChildren();
    this.#list.removeAttribute("aria-busy");
  }

  /** Adds messages at the end. */
  add(...elements) {
    this.#list.append(...elements);
  }

  /** Shows that messages are loading. */
  loading() {
    this.#list.setAttribute("aria-busy", "true");
    this.#list.replaceChildren(el("p", { class: "loading" }, "Loading…"));
  }

  /** Scrolls to the end and follows it. */
  follow() {
    this.#following = true;
    this.#updateScroll();
  }

  #distance() {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
  }

  #onScroll() {
    const up = this.#scroller.scrollTop < this.#top - 1;
    this.#top = this.#scroller.scrollTop;
    if (up && this.#distance() > 4) this.#following = false;
    else if (!up && this.#distance() < FOLLOW_DISTANCE) this.#following = true;
    this.#jump.hidden = this.#following;
  }

  #updateScroll() {
    if (this.#following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#jump.hidden = this.#following || this.#distance() < FOLLOW_DISTANCE;
  }
}

/** The view of a user's message. */
export function userElement(text) {
  return el(
    "article",
    { class: "turn user" },
    el("h2", { class: "offscreen" }, "You"),
    el("p", { class: "bubble", dir: "auto" }, text),
  );
}

async function copyCode(event) {
  const copy = event.target.closest('[data-copy="code"]');
  if (!copy) return;
  await copyText(copy.closest(".code").querySelector("code").textContent);
  copy.textContent = "Copied";
  setTimeout(() => {
    copy.textContent = "Copy";
  }, 2000);
}
