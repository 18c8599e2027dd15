// The card of a citation: the source's title, site and excerpt, shown on hover, on focus and on a tap.

import { t } from "../i18n/index.ts";
import { el, icon, link } from "../view/dom.ts";
import { hostOf } from "./strings.ts";

/** The delay before a card appears, so that a pointer can pass over a citation. */
const SHOW_DELAY_MS = 150;

/** The delay before a card disappears, in which the pointer can reach it. */
const HIDE_DELAY_MS = 200;

const MARGIN = 8;

let card: HTMLElement | null = null;
let owner: HTMLElement | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows cards for the citations in a root. */
export function wireCitations(root: HTMLElement): void {
  root.addEventListener("pointerover", (event) => {
    const cite = citationOf(event.target);
    if (cite && event.pointerType === "mouse") later(() => show(cite), SHOW_DELAY_MS);
  });
  root.addEventListener("pointerout", (event) => {
    if (citationOf(event.target) && event.pointerType === "mouse") later(hide, HIDE_DELAY_MS);
  });
  root.addEventListener("focusin", (event) => {
    const cite = citationOf(event.target);
    if (cite?.matches(":focus-visible")) show(cite);
  });
  root.addEventListener("focusout", (event) => {
    if (citationOf(event.target)) later(hide, HIDE_DELAY_MS);
  });
  root.addEventListener("click", (event) => {
    const cite = citationOf(event.target);
    const touch = event instanceof PointerEvent && event.pointerType === "touch";
    if (!cite || !touch || owner === cite) return;
    event.preventDefault();
    show(cite);
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (card && target instanceof Node && !card.contains(target) && !owner?.contains(target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !card) return;
    hide();
    // The same key stops an answer, unless it was meant for the card.
    event.stopImmediatePropagation();
  });
  document.addEventListener("scroll", hide, { capture: true, passive: true });
}

function citationOf(target: EventTarget | null): HTMLAnchorElement | null {
  return target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-source]") : null;
}

function later(run: () => void, delayMs: number): void {
  clearTimeout(timer);
  timer = setTimeout(run, delayMs);
}

function hide(): void {
  clearTimeout(timer);
  card?.remove();
  owner?.removeAttribute("aria-describedby");
  card = null;
  owner = null;
}

function show(cite: HTMLAnchorElement): void {
  hide();
  const { title = cite.href, excerpt = "" } = cite.dataset;
  card = el(
    "div",
    { id: "citation-card", class: "citation-card" },
    el("p", { class: "citation-title", dir: "auto" }, title),
    el("p", { class: "citation-host" }, hostOf(cite.href)),
    excerpt === "" ? [] : el("p", { class: "citation-excerpt", dir: "auto" }, excerpt),
    link(cite.href, { class: "citation-open", title: null }, cite.protocol === "attachment:" ? t.passage.open : t.answer.openSource, icon("chevron")),
  );
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", () => later(hide, HIDE_DELAY_MS));
  (cite.closest("main") ?? document.body).append(card);
  cite.setAttribute("aria-describedby", "citation-card");
  owner = cite;
  position(card, cite.getBoundingClientRect());
}

/** Puts the card below the citation, or above it at the end of the window. */
function position(card: HTMLElement, anchor: DOMRect): void {
  const { width, height } = card.getBoundingClientRect();
  const left = Math.min(Math.max(MARGIN, anchor.left + anchor.width / 2 - width / 2), innerWidth - width - MARGIN);
  const below = anchor.bottom + MARGIN;
  const top = below + height > innerHeight - MARGIN ? anchor.top - height - MARGIN : below;
  card.style.left = `${left}px`;
  card.style.top = `${Math.max(MARGIN, top)}px`;
}
