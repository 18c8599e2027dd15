// Opens the passages of documents and files that an answer refers to.

import { pictureLinks } from "../markdown/render.ts";
import { openCited } from "../parts/use.ts";

/** Opens what the buttons and the links in a root refer to. */
export function wirePassages(root: HTMLElement): void {
  root.addEventListener("click", (event) => {
    const opener = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-document], a[href]") : null;
    // The first tap on a citation shows its card.
    const opens = opener?.dataset.document || opener?.getAttribute("href")?.startsWith("attachment:") || (opener?.closest("#messages") && pictureLinks.has(opener));
    if (!opener || !opens || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openCited(opener);
  });
}
