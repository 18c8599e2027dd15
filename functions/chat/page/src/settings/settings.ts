// The settings dialog: language, theme, defaults, access, usage and the caller's data.

import type { Picker } from "../chat/picker.ts";
import { chooseLanguage, languages, t } from "../i18n/index.ts";
import { dataSections } from "../privacy.ts";
import { showDialog } from "../view/dialog.ts";
import { el } from "../view/dom.ts";
import { chooseTheme, themeChoice, type ThemeChoice } from "../view/theme.ts";
import { administrationSection } from "./administration.ts";
import { accessSection, type AccessActions } from "./access.ts";
import { usageSection } from "./usage.ts";

/** What the dialog needs of the page. */
export interface SettingsActions extends AccessActions {
  picker: Picker;
  /** Called after a complete erasure. */
  onErased: () => void;
}

/** Opens the dialog. */
export function openSettings(actions: SettingsActions): void {
  const data = dataSections(actions.onErased, () => dialog.close());
  const administration = administrationSection(() => dialog.close());
  const access = accessSection(actions, ({ admin }) => {
    administration.hidden = !admin;
  });
  const dialog = showDialog({
    id: "settings-dialog",
    title: t.settings.title,
    body: [generalSection(), defaultsSection(actions.picker), access, administration, usageSection(), data.nodes],
  });
  void dialog.result.then(data.abort);
}

function generalSection(): HTMLElement {
  const themes: ThemeChoice[] = ["system", "light", "dark"];
  return section(
    "settings-general",
    t.settings.general,
    select(
      "settings-language",
      t.settings.language,
      languages.map(({ locale, name }) => [locale, name]),
      t.locale,
      chooseLanguage,
    ),
    select(
      "settings-theme",
      t.settings.theme,
      themes.map((theme) => [theme, t.settings.themes[theme]]),
      themeChoice(),
      (value) => chooseTheme(value as ThemeChoice),
    ),
  );
}

/** The model and the agent of new conversations; empty where there is nothing to choose. */
function defaultsSection(picker: Picker): HTMLElement {
  const models: [string, string][] = picker.models.map(({ name }) => [name, name]);
  const agents: [string, string][] = picker.agents.map(({ id, name }) => [id, name]);
  const node = section(
    "settings-defaults",
    t.settings.defaults,
    ...(models.length > 1
      ? [select("settings-model", t.settings.model, [["", t.settings.serverDefault], ...models], picker.defaultModel, (name) => picker.setDefaultModel(name))]
      : []),
    ...(agents.length > 1
      ? [select("settings-agent", t.settings.agent, agents, picker.defaultAgent, (id) => picker.setDefaultAgent(id))]
      : []),
  );
  node.hidden = models.length < 2 && agents.length < 2;
  return node;
}

function section(id: string, title: string, ...children: Node[]): HTMLElement {
  return el("section", { "aria-labelledby": id }, el("h3", { id }, title), children);
}

function select(
  id: string,
  label: string,
  options: [value: string, text: string][],
  selected: string,
  onSelect: (value: string) => void,
): HTMLElement {
  const node = el("select", { id }, options.map(([value, text]) => el("option", { value, selected: value === selected }, text)));
  node.addEventListener("change", () => onSelect(node.value));
  return el("div", { class: "setting" }, el("label", { for: id }, label), node);
}
