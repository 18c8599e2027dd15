// The theme: light or dark, by the system's setting until the user chooses one. This is a classic script in the head,
// so the first paint already has the right colours.

(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme");
  const isDark = () => (chosen() ? chosen() === "dark" : system.matches);

  function apply() {
    root.dataset.theme = isDark() ? "dark" : "light";
    const toggle = document.getElementById("theme");
    if (!toggle) return;
    const label = isDark() ? "Use light colours" : "Use dark colours";
    toggle.setAttribute("aria-label", label);
    toggle.title = label;
  }

  /** Switches the theme. If the choice equals the system's setting, the page follows the system again. */
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
