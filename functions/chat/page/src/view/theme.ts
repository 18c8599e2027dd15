// The button that switches between light and dark; `theme.ts` in the head applies the stored choice.

import { t } from "../i18n/index.ts";
import { iconButton } from "./dom.ts";

const system = window.matchMedia("(prefers-color-scheme: dark)");

const isDark = () => document.documentElement.dataset.theme === "dark";

/** A theme, or that of the device. */
export type ThemeChoice = "system" | "light" | "dark";

/** The user's choice. */
export function themeChoice(): ThemeChoice {
  const chosen = localStorage.getItem("theme");
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** Stores a choice and applies it. */
export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem("theme");
  else localStorage.setItem("theme", choice);
  const device = system.matches ? "dark" : "light";
  document.documentElement.dataset.theme = choice === "system" ? device : choice;
}

/** The button. If the choice equals the system's setting, the page follows the system again. */
export function themeButton(): HTMLElement {
  const button = iconButton("", "sun", () => {
    const wanted = isDark() ? "light" : "dark";
    chooseTheme((wanted === "dark") === system.matches ? "system" : wanted);
  });
  const label = () => {
    const text = isDark() ? t.shell.lightColours : t.shell.darkColours;
    button.setAttribute("aria-label", text);
    button.title = text;
    button.querySelector("use")?.setAttribute("href", isDark() ? "#icon-moon" : "#icon-sun");
  };
  new MutationObserver(label).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  button.id = "theme";
  label();
  return button;
}
