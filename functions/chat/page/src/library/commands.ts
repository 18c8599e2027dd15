// The commands of the palette: those of the open conversation, and those of the page.

import { chooseLanguage, languages, t } from "../i18n/index.ts";
import { actionsOf } from "../list/actions.ts";
import { showArchive } from "../list/conversations.tsx";
import { openSettings } from "../parts/use.ts";
import { openConversation } from "../state/lists.ts";
import { showSidebar } from "../state/drawer.ts";
import { startNew } from "../state/open.ts";
import { chooseTheme } from "../state/theme.ts";
import type { Action } from "../view/action-menu.tsx";
import { byId, type IconName } from "../view/dom.ts";
import { openImport } from "./import.tsx";
import { openShortcuts } from "./shortcuts.tsx";
import { texts } from "./texts.ts";

/** What the palette can do. */
export interface Choice extends Action {
  /** What a search found in a conversation. */
  detail?: string;
}

export interface Group {
  name: string;
  choices: Choice[];
}

/** Opens the list, with the archive or for a search. */
function showList(archived: boolean): void {
  showSidebar();
  showArchive(archived);
  if (!archived) queueMicrotask(() => (byId("search") as HTMLInputElement).select());
}

/** The groups of commands. */
export function commandGroups(): Group[] {
  const { palette } = texts;
  const command = (label: string, iconName: IconName, run: () => void): Choice => ({ label, iconName, run });
  const themes = (["system", "light", "dark"] as const).map((theme) =>
    command(palette.themes[theme], theme === "dark" ? "moon" : "sun", () => chooseTheme(theme)),
  );
  const others = languages.filter(({ locale }) => locale !== t.locale);
  const choices = [
    command(t.newConversation, "new", () => startNew()),
    command(t.temporary.title, "temporary", () => startNew(true)),
    command(t.list.search, "search", () => showList(false)),
    command(palette.showArchive, "archive", () => showList(true)),
    command(palette.import, "data", openImport),
    command(t.shell.settings, "settings", openSettings),
    ...themes,
    ...others.map(({ locale, name }) => command(palette.language(name), "language", () => chooseLanguage(locale))),
    command(palette.shortcuts, "list", openShortcuts),
  ];
  const open = openConversation.value;
  const own = open ? [{ name: palette.thisOne(open.title || t.untitled), choices: actionsOf(open.id) }] : [];
  return [...own, { name: palette.commands, choices }];
}
