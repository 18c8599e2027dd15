// A button that opens a panel with one or more listboxes; the keyboard follows the ARIA listbox pattern.

import { el, icon, type Child } from "./dom.ts";

/** One choice of a group. */
export interface Option {
  value: string;
  label: string;
  description?: string;
}

/** A group of choices, of which one is selected. */
export interface Group {
  name: string;
  options: Option[];
  selected: string;
  onSelect: (value: string) => void;
}

/** The button and its panel. */
export class ListboxMenu {
  element = el("div", { class: "menu" });
  #button: HTMLButtonElement;
  #label = el("span", { class: "menu-label" });
  #panel: HTMLElement | null = null;
  #groups: Group[] = [];
  #describe: (label: string) => string;

  /** `describe` makes the accessible name from the current labels. */
  constructor(describe: (label: string) => string) {
    this.#describe = describe;
    const attributes = { type: "button", class: "menu-button", "aria-haspopup": "listbox", "aria-expanded": "false" };
    this.#button = el("button", attributes, this.#label, icon("chevron"));
    this.#button.addEventListener("click", () => (this.#panel ? this.close() : this.#open()));
    this.element.append(this.#button);
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.close(false);
    });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Sets the groups; groups with one choice are not shown. Without groups the button is hidden. */
  set(groups: Group[]): void {
    this.#groups = groups.filter(({ options }) => options.length > 1);
    this.element.hidden = this.#groups.length === 0;
    const labels = this.#groups.map(({ options, selected }) => options.find(({ value }) => value === selected)?.label);
    const text = labels.filter(Boolean).join(" · ");
    this.#label.textContent = text;
    this.#button.setAttribute("aria-label", this.#describe(text));
    this.#button.title = this.#describe(text);
  }

  /** Closes the panel; `refocus` moves the focus to the button. */
  close(refocus = true): void {
    if (!this.#panel) return;
    // Removing the focused option fires `focusout`, which closes the panel too.
    const panel = this.#panel;
    this.#panel = null;
    panel.remove();
    this.#button.setAttribute("aria-expanded", "false");
    if (refocus) this.#button.focus();
  }

  #open(): void {
    this.#panel = el("div", { class: "menu-panel" }, this.#groups.map((group) => this.#list(group)));
    this.element.append(this.#panel);
    this.#button.setAttribute("aria-expanded", "true");
    this.#panel.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }

  #list(group: Group): Child {
    const options = group.options.map((option) => {
      const selected = option.value === group.selected;
      const node = el(
        "div",
        { role: "option", class: "menu-option", tabindex: selected ? "0" : "-1", "aria-selected": String(selected) },
        el("span", { class: "menu-option-label" }, option.label),
        option.description ? el("span", { class: "menu-option-text" }, option.description) : [],
        icon("check"),
      );
      node.addEventListener("click", () => {
        this.close();
        group.onSelect(option.value);
      });
      return node;
    });
    const heading = el("p", { class: "menu-heading", "aria-hidden": "true" }, group.name);
    return [heading, el("div", { role: "listbox", "aria-label": group.name }, options)];
  }

  #onKey(event: KeyboardEvent): void {
    if (!this.#panel) return;
    const options = [...this.#panel.querySelectorAll<HTMLElement>('[role="option"]')];
    const at = options.indexOf(document.activeElement as HTMLElement);
    const targets: Record<string, number> = {
      ArrowDown: Math.min(at + 1, options.length - 1),
      ArrowUp: Math.max(at - 1, 0),
      Home: 0,
      End: options.length - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) options[target]?.focus();
    else if (event.key === "Escape") this.close();
    else if ((event.key === "Enter" || event.key === " ") && at >= 0) options[at]?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
