// Colours of finished code blocks, once the part that makes them is loaded.

import { loadColours, type Colours } from "../parts/load.ts";

/** Longer blocks stay plain: colouring one is a single task of the browser. */
const MAX_CHARS = 100_000;

let loading: Promise<Colours | null> | null = null;

/** Colours the code blocks in a root that have a language. */
export function colourCode(root: ParentNode): void {
  const blocks = [...root.querySelectorAll<HTMLElement>('.code:not([data-language=""], [data-coloured])')];
  if (blocks.length === 0) return;
  loading ??= loadColours();
  void loading.then((colours) => {
    for (const block of blocks) if (colours) colourBlock(block, colours);
  });
}

function colourBlock(block: HTMLElement, colours: Colours): void {
  const code = block.querySelector("code");
  const text = code?.textContent ?? "";
  if (!code || text.length > MAX_CHARS) return;
  block.dataset.coloured = "";
  const coloured = colours.colour(text, block.dataset.language ?? "");
  if (coloured) code.replaceChildren(coloured);
}
