// Light and dark: the system's choice until the user makes another. A classic script in the head, so that the first
// paint already has the right colours.

(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme");
  const isDark = () => (chosen() ? chosen() === "dark" : system.matches);

  function apply() {
    root.dataset.theme = isDark() ? "dark" : "light";
    const toggle = document.getElementById("theme");
    if (!toggle) return;
    const words = isDark() ? "Use light colours" : "Use dark colours";
    toggle.setAttribute("aria-label", words);
    toggle.title = words;
  }

  /** Choosing what the system says anyway goes back to following it. */
  function toggle() {
    const wanted = isDark() ? "light" : "dark";
    if ((wanted === "dark") === system.matches) localStorage.removeItem("theme");
    else localStorage.setItem("theme", wanted);
    apply();
  }

  apply();
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme").addEventListener("click", toggle);
  });
})();
