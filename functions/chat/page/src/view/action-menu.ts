// A button that opens a menu of actions; the keyboard follows the ARIA menu button pattern.

import { el, icon, iconButton, type IconName } from "./dom.ts";

/** One action of a menu. */
export interface Action {
  label: string;
  iconName: IconName;
  run: () => void;
}

/** The button; the menu is in the document only while it is open. */
export function actionMenu(label: string, actions: Action[]): HTMLElement {
  const opener = iconButton(label, "more", () => (panel ? close() : open()));
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");
  const root = el("div", { class: "menu actions-menu" }, opener);
  let panel: HTMLElement | null = null;

  const close = () => {
    // Removing the focused item fires `focusout`, which closes the menu too.
    const open = panel;
    panel = null;
    open?.remove();
    opener.setAttribute("aria-expanded", "false");
  };
  const open = () => {
    panel = el("div", { class: "menu-panel", role: "menu", "aria-label": label }, actions.map(item));
    root.append(panel);
    opener.setAttribute("aria-expanded", "true");
    panel.querySelector("button")?.focus();
  };
  const item = ({ label, iconName, run }: Action) => {
    const node = el("button", { type: "button", class: "menu-item", role: "menuitem" }, icon(iconName), label);
    node.addEventListener("click", () => {
      close();
      run();
    });
    return node;
  };
  root.addEventListener("focusout", (event) => {
    if (!root.contains(event.relatedTarget as Node | null)) close();
  });
  root.addEventListener("keydown", (event) => {
    if (!panel) return;
    const items = [...panel.querySelectorAll("button")];
    const at = items.indexOf(document.activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) items.at((at + step) % items.length)?.focus();
    else if (event.key === "Escape") {
      close();
      opener.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return root;
}
