// The column of messages: it scrolls with the growing answer until the user scrolls up.

import { t } from "../i18n/index.ts";
import { byId, copyText, el, flash, type Child } from "../view/dom.ts";

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
    this.#list.addEventListener("click", (event) => void copyCode(event));
    const observer = new ResizeObserver(() => this.#updateScroll());
    observer.observe(this.#list);
    observer.observe(this.#scroller);
  }

  /** Removes everything. */
  clear(): void {
    this.#list.replaceChildren();
    this.#list.removeAttribute("aria-busy");
  }

  /** Adds messages at the end. */
  add(...elements: HTMLElement[]): void {
    this.#list.append(...elements);
  }

  /** Shows that messages are loading. */
  loading(): void {
    this.#list.setAttribute("aria-busy", "true");
    this.#list.replaceChildren(el("p", { class: "loading" }, t.loading));
  }

  /** Scrolls to the end and follows it. */
  follow(): void {
    this.#following = true;
    this.#updateScroll();
  }

  #distance(): number {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
  }

  #onScroll(): void {
    const up = this.#scroller.scrollTop < this.#top - 1;
    this.#top = this.#scroller.scrollTop;
    if (up && this.#distance() > 4) this.#following = false;
    else if (!up && this.#distance() < FOLLOW_DISTANCE) this.#following = true;
    this.#jump.hidden = this.#following;
  }

  #updateScroll(): void {
    // The composer is as wide as the text: the scroll bar takes its place on both sides of the messages.
    const gutter = (this.#scroller.offsetWidth - this.#scroller.clientWidth) / 2;
    document.documentElement.style.setProperty("--gutter", `${gutter}px`);
    if (this.#following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#jump.hidden = this.#following || this.#distance() < FOLLOW_DISTANCE;
  }
}

/** The view of a user's message. */
export function userElement(text: string): HTMLElement {
  const heading: Child = el("h2", { class: "offscreen" }, t.chat.you);
  return el("article", { class: "turn user" }, heading, el("p", { class: "bubble", dir: "auto" }, text));
}

async function copyCode(event: Event): Promise<void> {
  const copy = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy="code"]') : null;
  if (!copy) return;
  await copyText(copy.closest(".code")?.querySelector("code")?.textContent ?? "");
  flash(copy, t.copied, t.copy);
}
