// The column of messages: it follows the growing answer until the reader scrolls away.

import { byId, copyText, el } from "./dom.js";

const NEAR = 32;

/** The messages on the page and the place that is being read. */
export class Thread {
  #scroller = byId("scroller");
  #list = byId("messages");
  #jump = byId("jump");
  #following = true;
  #top = 0;

  constructor() {
    this.#scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.#jump.addEventListener("click", () => this.follow());
    this.#list.addEventListener("click", copyCode);
    const grown = new ResizeObserver(() => this.#settle());
    grown.observe(this.#list);
    grown.observe(this.#scroller);
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

  /** Shows that messages are on their way. */
  loading() {
    this.#list.setAttribute("aria-busy", "true");
    this.#list.replaceChildren(el("p", { class: "loading" }, "Loading…"));
  }

  /** Goes to the end and stays there. */
  follow() {
    this.#following = true;
    this.#settle();
  }

  #distance() {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
  }

  #scrolled() {
    const up = this.#scroller.scrollTop < this.#top - 1;
    this.#top = this.#scroller.scrollTop;
    if (up && this.#distance() > 4) this.#following = false;
    else if (!up && this.#distance() < NEAR) this.#following = true;
    this.#jump.hidden = this.#following;
  }

  #settle() {
    if (this.#following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#jump.hidden = this.#following || this.#distance() < NEAR;
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
