// The theme; `theme.ts` in the head applies the stored choice, also one that another tab stores.

import { signal } from "@preact/signals";

/** A theme, or that of the device. */
export type ThemeChoice = "system" | "light" | "dark";

const system = window.matchMedia("(prefers-color-scheme: dark)");

const stored = (): ThemeChoice => {
  const chosen = localStorage.getItem("theme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
};

/** The user's choice. */
export const themeChoice = signal(stored());

/** Whether the page is dark. */
export const isDark = signal(document.documentElement.dataset.theme === "dark");

function read(): void {
  themeChoice.value = stored();
  isDark.value = document.documentElement.dataset.theme === "dark";
}

new MutationObserver(read).observe(document.documentElement, { attributeFilter: ["data-theme"] });
window.addEventListener("storage", read);

/** Stores a choice and applies it. */
export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem("theme");
  else localStorage.setItem("theme", choice);
  const device = system.matches ? "dark" : "light";
  document.documentElement.dataset.theme = choice === "system" ? device : choice;
  read();
}

/** Switches between light and dark. If the choice equals the system's setting, the page follows the system again. */
export function toggleTheme(): void {
  chooseTheme(isDark.value !== system.matches ? "system" : isDark.value ? "light" : "dark");
}
