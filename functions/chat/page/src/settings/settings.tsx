// The settings dialog: language, theme, defaults, access, usage and the caller's data.

import { useSignal } from "@preact/signals";

import { storedKey } from "../api/key.ts";
import { chooseLanguage, languages, t } from "../i18n/index.ts";
import { agent, agents, defaultModel, modelLabel, models, setAgent, setDefaultModel } from "../state/choice.ts";
import { chooseTheme, themeChoice, type ThemeChoice } from "../state/theme.ts";
import { Button } from "../view/controls.tsx";
import { showDialog } from "../view/dialog.ts";
import { Access } from "./access.tsx";
import { DataSections } from "./data.tsx";
import { Instructions } from "./instructions.tsx";
import { NotificationSwitch } from "./notifications.tsx";
import { Section } from "./section.tsx";
import { Select } from "./select.tsx";
import { texts } from "./texts.ts";
import { Usage } from "./usage.tsx";

const THEMES: readonly ThemeChoice[] = ["system", "light", "dark"];

/** Opens the dialog. */
export function openSettings(): void {
  if (document.getElementById("settings-dialog")) return;
  const dialog = showDialog({ id: "settings-dialog", title: t.shell.settings, content: <Settings close={() => dialog.close()} /> });
}

function Settings({ close }: { close: () => void }) {
  const [isAdmin, key] = [useSignal(false), useSignal(storedKey())];
  return (
    <>
      <Section id="settings-general" title={texts.general}>
        <Select
          id="settings-language"
          label={texts.language}
          options={languages.map(({ locale, name }) => [locale, name])}
          selected={t.locale}
          onSelect={chooseLanguage}
        />
        <Select
          id="settings-theme"
          label={texts.theme}
          options={THEMES.map((theme) => [theme, texts.themes[theme]])}
          selected={themeChoice.value}
          onSelect={(theme) => chooseTheme(theme as ThemeChoice)}
        />
        <NotificationSwitch />
      </Section>
      <Defaults />
      <Instructions key={key.value} />
      <Access onAccount={({ admin }) => ([isAdmin.value, key.value] = [admin, storedKey()])} />
      <Administration hidden={!isAdmin.value} close={close} />
      <Usage />
      <DataSections close={close} />
    </>
  );
}

/** The model and the agent of new conversations, where there is something to choose. */
function Defaults() {
  const modelNames = models.value.map(({ name }): [string, string] => [name, modelLabel(name)]);
  const agentNames = agents.value.map(({ id, name }): [string, string] => [id, name]);
  const [hasModels, hasAgents] = [modelNames.length > 1, agentNames.length > 1];
  const options: [string, string][] = [["", texts.serverDefault], ...modelNames];
  return (
    <Section id="settings-defaults" title={texts.defaults} hidden={!hasModels && !hasAgents}>
      {hasModels && <Select id="settings-model" label={t.composer.model} options={options} selected={defaultModel()} onSelect={setDefaultModel} />}
      {hasAgents && <Select id="settings-agent" label={t.composer.agent} options={agentNames} selected={agent.value} onSelect={setAgent} />}
    </Section>
  );
}

/** The way to the administration, for administrators; its code is loaded on first use. */
function Administration({ hidden, close }: { hidden: boolean; close: () => void }) {
  const open = () => {
    close();
    location.hash = "#/admin/agents";
  };
  return (
    <Section id="settings-administration" title={texts.administration} hidden={hidden}>
      <p>{texts.administrationText}</p>
      <Button icon="tool" onClick={open}>{texts.administer}</Button>
    </Section>
  );
}
