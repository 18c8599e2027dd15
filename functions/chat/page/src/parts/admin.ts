// A part of the page: the administration.

import { agentsPanel } from "../admin/agents.ts";
import { articlesPanel } from "../admin/articles.ts";
import { texts as en } from "../admin/en.ts";
import { keysPanel } from "../admin/keys.ts";
import type { Context, Kit } from "../admin/kit.ts";
import { callsPanel, modelsPanel } from "../admin/state.ts";
import { toolsPanel } from "../admin/tools.ts";
import { texts as zhCN } from "../admin/zh-CN.ts";
import { button, el } from "../view/dom.ts";

type PanelName = keyof typeof en.tabs;
type Panel = (context: Context, refresh: () => void) => Promise<HTMLElement[]>;

const PANELS: Record<PanelName, Panel> = {
  agents: agentsPanel,
  tools: toolsPanel,
  articles: articlesPanel,
  keys: keysPanel,
  calls: callsPanel,
  models: modelsPanel,
  usage: ({ usage }) => usage(),
};

/** Opens the administration. */
export function openAdministration(kit: Kit): void {
  const context: Context = { ...kit, texts: kit.locale === "zh-CN" ? zhCN : en };
  const { texts } = context;
  const names = Object.keys(PANELS) as PanelName[];
  const panel = el("div", { id: "admin-panel", role: "tabpanel", tabindex: 0 });
  let shown = 0;
  const show = async (name: PanelName) => {
    shown += 1;
    const turn = shown;
    for (const tab of tabs) tab.setAttribute("aria-selected", String(tab.id === `admin-tab-${name}`));
    for (const tab of tabs) tab.tabIndex = tab.id === `admin-tab-${name}` ? 0 : -1;
    panel.setAttribute("aria-labelledby", `admin-tab-${name}`);
    panel.replaceChildren(el("p", {}, texts.loading));
    const failed = (thrown: unknown) => [el("p", { class: "field-error", role: "alert" }, context.errorText(thrown))];
    const content = await PANELS[name](context, () => void show(name)).catch(failed);
    // The user may have chosen another panel in the meantime.
    if (turn === shown) panel.replaceChildren(...content);
  };
  const tabs = names.map((name) => {
    const tab = el("button", { type: "button", role: "tab", id: `admin-tab-${name}`, "aria-controls": "admin-panel" }, texts.tabs[name]);
    tab.addEventListener("click", () => void show(name));
    return tab;
  });
  const list = el("div", { class: "admin-tabs scrolls", role: "tablist", "aria-label": texts.title }, tabs);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(document.activeElement as HTMLButtonElement);
    const next = step === undefined ? undefined : tabs.at((at + step) % tabs.length);
    next?.focus();
    next?.click();
  });
  const close = button(texts.close, () => dialog.close(), { iconName: "close" });
  const head = el("div", { class: "admin-head" }, el("h2", { id: "admin-title" }, texts.title), close);
  const dialog = el("dialog", { id: "admin", "aria-labelledby": "admin-title" }, head, list, panel);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  void show("agents");
}
