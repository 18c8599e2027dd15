// Opens the passages of documents and files that an answer refers to.

import { openCited } from "../parts/use.ts";

/** Opens what the buttons and the links in a root refer to. */
export function wirePassages(root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    const opener = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-document], a[href^="attachment:"], #messages a[data-picture]') : null;
    // The first tap on a citation shows its card.
    if (!opener || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openCited(opener);
  });
}
