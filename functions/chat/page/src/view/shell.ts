// The frame of the page: list, header, message area and composer, in the page's language.

import { t } from "../i18n/index.ts";
import { button, el, icon, iconButton, type Child } from "./dom.ts";
import { themeButton } from "./theme.ts";

/** What the frame's buttons do. */
export interface ShellActions {
  onNew: () => void;
  onExample: (text: string) => void;
  onSettings: () => void;
  onDemo: () => void;
  onDismissToast: () => void;
}

const nothing = () => {};

/** Builds the frame into the body. */
export function buildShell(actions: ShellActions): void {
  document.documentElement.lang = t.locale;
  const skip = el("a", { class: "skip", href: "#message", id: "skip" }, t.shell.skip);
  skip.addEventListener("click", (event) => {
    // The hash of the URL names the conversation, so the link must not change it.
    event.preventDefault();
    document.getElementById("message")?.focus();
  });
  document.body.append(
    skip,
    el("div", { id: "page" }, sidebar(actions), el("div", { id: "shade" }), mainColumn(actions)),
    el("div", { class: "offscreen", id: "announcer", role: "status" }),
    el("div", { class: "offscreen", id: "toast-announcer", role: "alert" }),
  );
}

function withId<Node extends HTMLElement>(id: string, node: Node, hidden = false): Node {
  node.id = id;
  node.hidden = hidden;
  return node;
}

function logo(size: number): HTMLElement {
  const href = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.getAttribute("href");
  return el("img", { src: href, alt: "", width: size, height: size });
}

function sidebar({ onNew, onSettings }: ShellActions): Child {
  return el(
    "nav",
    { id: "sidebar", "aria-label": t.shell.conversations },
    el(
      "div",
      { class: "sidebar-head" },
      logo(26),
      el("strong", {}, "Lambda Chat"),
      withId("close-list", iconButton(t.shell.closeList, "close", nothing)),
    ),
    withId("new-chat", button(t.newConversation, onNew, { iconName: "new", kind: "new" })),
    el("div", { id: "conversations" }),
    el(
      "div",
      { class: "sidebar-foot" },
      withId("open-settings", button(t.shell.settings, onSettings, { iconName: "settings" })),
    ),
  );
}

function mainColumn(actions: ShellActions): Child {
  return el("div", { id: "main" }, header(actions), messageArea(actions), footer(actions));
}

function header({ onNew }: ShellActions): Child {
  const toggle = withId("toggle-list", iconButton(t.shell.list, "list", nothing));
  toggle.setAttribute("aria-controls", "sidebar");
  return el(
    "header",
    {},
    toggle,
    el("h1", { id: "title", dir: "auto" }, t.newConversation),
    withId("new-chat-compact", iconButton(t.newConversation, "new", onNew)),
    themeButton(),
  );
}

function messageArea({ onExample }: ShellActions): Child {
  const example = (text: string) => {
    const node = el("button", { type: "button", class: "example" }, text);
    node.addEventListener("click", () => onExample(node.textContent ?? text));
    return node;
  };
  const welcome = el(
    "section",
    { id: "welcome" },
    logo(44),
    el("h2", {}, t.welcome.title),
    el("p", {}, t.welcome.text),
    el("div", { class: "examples" }, t.welcome.examples.map(example)),
  );
  return el("main", { id: "scroller", tabindex: "-1" }, welcome, el("div", { id: "messages" }));
}

function footer({ onDemo, onDismissToast }: ShellActions): Child {
  return el(
    "footer",
    {},
    withId("jump", iconButton(t.shell.latest, "down", nothing), true),
    el(
      "div",
      { id: "toast", class: "note failed", hidden: true },
      icon("alert"),
      el("p", { id: "toast-text" }),
      el("span", { id: "toast-action" }),
      withId("toast-close", iconButton(t.dismiss, "close", onDismissToast)),
    ),
    composer(),
    el("p", { id: "composer-hint" }),
    el(
      "p",
      { id: "demo", hidden: true },
      el("strong", {}, t.demo.name),
      " ",
      t.demo.text,
      " ",
      withId("demo-more", button(t.demo.more, onDemo, { kind: "text" })),
    ),
  );
}

function composer(): Child {
  return el(
    "div",
    { id: "composer" },
    el("label", { class: "offscreen", for: "message" }, t.shell.message),
    el("textarea", {
      id: "message",
      rows: 1,
      placeholder: t.shell.placeholder,
      dir: "auto",
      "aria-describedby": "composer-hint",
    }),
    el("div", { id: "composer-bar" }, el("div", { id: "choice" }), withId("send", iconButton(t.shell.send, "send", nothing))),
  );
}
