// The theme: light or dark, by the system's setting until the user chooses one. This script is in the head, so the
// first paint already has the right colours.

const system = window.matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const chosen = localStorage.getItem("theme");
  document.documentElement.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
}

/** The browser's own frame has the colour of the page. */
function colourFrame(): void {
  const colour = document.documentElement.dataset.theme === "dark" ? "#161819" : "#fdfdfc";
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) meta.content = colour;
}

new MutationObserver(colourFrame).observe(document.documentElement, { attributeFilter: ["data-theme"] });
apply();
system.addEventListener("change", apply);
window.addEventListener("storage", apply);
