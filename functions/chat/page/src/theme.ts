// The theme: light or dark, by the system's setting until the user chooses one. This script is in the head, so the
// first paint already has the right colours.

const system = window.matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const chosen = localStorage.getItem("theme");
  document.documentElement.dataset.theme = chosen ?? (system.matches ? "dark" : "light");
}

apply();
system.addEventListener("change", apply);
window.addEventListener("storage", apply);
