// The column of messages: a new question goes to its top, and its end is followed where the user scrolls to it.

import { copySelection } from "../answer/excerpt.ts";
import { t } from "../i18n/index.ts";
import { button, byId, copyText, el, flash } from "../view/dom.ts";

/** The distance to the end, in pixels, within which scrolling down resumes following. */
const FOLLOW_DISTANCE = 32;

/** The distance above the screen, in pixels, from which earlier messages are loaded. */
const EARLIER_DISTANCE = 800;

/** The distance of a new question to the top, in pixels. */
const QUESTION_MARGIN = 12;

/** The messages on the page and their scroll position. */
export class Thread {
  #scroller = byId("scroller");
  #list = byId("messages");
  #welcome = byId("welcome");
  #footer = byId("composer").parentElement ?? byId("composer");
  #jump = byId("jump");
  #earlier = el("div", { class: "earlier", hidden: true });
  #loadEarlier: (() => Promise<void>) | null = null;
  #nearBeginning: IntersectionObserver;
  /** Suggested questions by the answer that they follow, also when it is shown again. */
  #followUps = new Map<string, HTMLElement>();
  #following = true;
  /** Whether the end of the text was on the screen. */
  #nearEnd = false;
  #top = 0;
  /** The newest question, below which space is kept for its answer; null for a conversation that was only read. */
  #question: HTMLElement | null = null;

  constructor() {
    this.#scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    this.#jump.addEventListener("click", () => this.follow());
    this.#list.addEventListener("click", (event) => void copyCode(event));
    document.addEventListener("copy", copySelection);
    const observer = new ResizeObserver(() => this.#updateScroll());
    observer.observe(this.#list);
    observer.observe(this.#scroller);
    this.#list.before(this.#earlier);
    this.#earlier.append(button(t.chat.earlier, () => void this.#loadMore(), { kind: "text" }));
    const options = { root: this.#scroller, rootMargin: `${EARLIER_DISTANCE}px 0px 0px` };
    this.#nearBeginning = new IntersectionObserver((entries) => {
      if (entries.at(-1)?.isIntersecting) void this.#loadMore();
    }, options);
  }

  /** Shows these elements only, or the welcome if there are none; those that are there already stay. */
  show(elements: HTMLElement[]): void {
    if (this.#welcome.hidden !== elements.length > 0) this.#moveComposer(elements.length);
    for (const group of this.#list.querySelectorAll<HTMLElement>("[data-after]")) this.#followUps.set(group.dataset.after ?? "", group);
    const followUps = this.#followUps.get(elements.at(-1)?.dataset.message ?? "");
    const wanted = new Set<Element | undefined>([...elements, followUps]);
    for (const child of this.#list.querySelectorAll(":scope > :not(.part), .part > *")) if (!wanted.has(child)) child.remove();
    for (const part of this.#list.querySelectorAll(".part:empty")) part.remove();
    let last: Element | null = null;
    for (const element of elements) {
      const before: Element | null = last?.nextElementSibling ? last : (last?.closest(".part") ?? last);
      if (!element.isConnected && before) before.after(element);
      else if (!element.isConnected) this.#list.prepend(element);
      last = element;
    }
    if (followUps && !followUps.isConnected) this.#list.append(followUps);
    this.#list.removeAttribute("aria-busy");
  }

  /** Shows earlier elements as one part, which the browser lays out when it comes near. */
  prepend(elements: HTMLElement[]): void {
    this.#list.prepend(el("div", { class: "part" }, elements));
  }

  /** Moves the composer below the welcome, or from there to the end of the page: gradually when a message is sent. */
  #moveComposer(shown: number): void {
    const before = this.#footer.getBoundingClientRect().top;
    this.#welcome.hidden = shown > 0;
    byId("page").toggleAttribute("data-empty", shown === 0);
    const moved = before - this.#footer.getBoundingClientRect().top;
    if (shown < 2 || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.#footer.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], { duration: 200, easing: "ease-out" });
  }

  /** Shows that messages are loading. */
  loading(): void {
    this.show([el("p", { class: "loading" }, t.loading)]);
    this.#list.setAttribute("aria-busy", "true");
  }

  /** Calls `load` when the reader comes near the beginning of what is shown; null if it is the beginning of all. */
  offerEarlier(load: (() => Promise<void>) | null): void {
    this.#loadEarlier = load;
    this.#earlier.hidden = load === null;
    this.#nearBeginning.disconnect();
    // Observing again reports a beginning that is still near.
    if (load) this.#nearBeginning.observe(this.#earlier);
  }

  async #loadMore(): Promise<void> {
    const load = this.#loadEarlier;
    this.#loadEarlier = null;
    await load?.();
  }

  /** Makes a change that keeps `element`, or what `successor` finds after it, where it is on the screen. */
  hold(element: HTMLElement, change: () => void, successor: () => HTMLElement = () => element): void {
    const before = element.getBoundingClientRect().top;
    change();
    this.#reserve();
    this.#scroller.scrollTop += successor().getBoundingClientRect().top - before;
    this.#top = this.#scroller.scrollTop;
  }

  /** Scrolls to a message and focuses it; returns whether it is shown. */
  showMessage(id: string): boolean {
    const message = this.#list.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`);
    if (!message) return false;
    this.#following = this.#nearEnd = false;
    message.tabIndex = -1;
    message.scrollIntoView({ block: "start" });
    message.focus({ preventScroll: true });
    return true;
  }

  /** Scrolls a question to the top; its answer grows below it, where it does not move. */
  begin(question: HTMLElement): void {
    this.#question = question;
    this.follow();
    this.#following = false;
  }

  /** Keeps space below the question, so that it can be at the top. */
  #reserve(): void {
    if (!this.#question?.isConnected) this.#question = null;
    const top = (element: HTMLElement) => element.getBoundingClientRect().top;
    const above = this.#question ? top(this.#question) - top(this.#list) - QUESTION_MARGIN : 0;
    this.#list.style.minHeight = this.#question ? `${above + this.#scroller.clientHeight}px` : "";
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
    // Also scrolling by this class is reported.
    if (this.#scroller.scrollTop === this.#top) return;
    const up = this.#scroller.scrollTop < this.#top - 1;
    this.#top = this.#scroller.scrollTop;
    if (up && this.#distance() > 4) this.#following = false;
    else if (!up && this.#distance() < FOLLOW_DISTANCE) this.#following = true;
    this.#showJump();
  }

  #showJump(): void {
    const distance = this.#distance();
    this.#nearEnd = distance < FOLLOW_DISTANCE * 4;
    this.#jump.hidden = this.#following || distance < FOLLOW_DISTANCE;
  }

  #updateScroll(): void {
    // The composer is as wide as the text: the scroll bar takes its place on both sides of the messages.
    const gutter = (this.#scroller.offsetWidth - this.#scroller.clientWidth) / 2;
    document.documentElement.style.setProperty("--gutter", `${gutter}px`);
    this.#reserve();
    // A note that appears at the end is shown whole.
    this.#following ||= this.#nearEnd && this.#list.querySelector(":last-child > .notes > .note") !== null;
    if (this.#following) {
      this.#scroller.scrollTop = this.#scroller.scrollHeight;
      this.#top = this.#scroller.scrollTop;
    }
    this.#showJump();
  }
}

async function copyCode(event: Event): Promise<void> {
  const copy = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-copy="code"]') : null;
  if (!copy) return;
  await copyText(copy.closest(".code")?.querySelector("code")?.textContent ?? "");
  flash(copy, t.copied, t.copy);
}
