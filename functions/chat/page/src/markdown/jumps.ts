// Footnotes: their buttons move the focus between a reference and its note. The hash of the URL names the conversation, so
// they are no links.

/** Handles the buttons in a root. */
export function wireJumps(root: HTMLElement): void {
  root.addEventListener("click", ({ target }) => {
    const jump = target instanceof Element ? target.closest<HTMLElement>("[data-jump]") : null;
    const wanted = jump && document.getElementById(jump.dataset.jump ?? "");
    wanted?.focus();
    wanted?.scrollIntoView({ block: "nearest" });
  });
}
