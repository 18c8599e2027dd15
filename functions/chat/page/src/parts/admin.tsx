// A part of the page: the administration.

import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";

import { AgentsPanel } from "../admin/agents.tsx";
import { ArticlesPanel } from "../admin/articles.tsx";
import { KeysPanel } from "../admin/keys.tsx";
import { CallsPanel, FeedbackPanel, ModelsPanel } from "../admin/state.tsx";
import { texts } from "../admin/texts.ts";
import { ToolsPanel } from "../admin/tools.tsx";
import { UsagePanel } from "../admin/usage.tsx";
import { t } from "../i18n/index.ts";
import { Button } from "../view/controls.tsx";
import { showModal } from "../view/dialog.ts";
import { addStyle } from "../view/dom.ts";

declare const STYLE: string;

addStyle(STYLE);

type PanelName = keyof typeof texts.tabs;

const PANELS: Record<PanelName, FunctionComponent> = {
  agents: AgentsPanel,
  tools: ToolsPanel,
  articles: ArticlesPanel,
  keys: KeysPanel,
  calls: CallsPanel,
  feedback: FeedbackPanel,
  models: ModelsPanel,
  usage: UsagePanel,
};

const NAMES = Object.keys(PANELS) as PanelName[];

/** Opens the administration. */
export function openAdministration(): void {
  showModal({ id: "admin", "aria-labelledby": "admin-title" }, (close) => <Administration close={close} />);
}

function Administration({ close }: { close: () => void }) {
  const shown = useSignal<PanelName>("agents");
  const Panel = PANELS[shown.value];
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const next = step && NAMES.at((NAMES.indexOf(shown.value) + step) % NAMES.length);
    if (!next) return;
    shown.value = next;
    document.getElementById(`admin-tab-${next}`)?.focus();
  };
  return (
    <>
      <div class="admin-head">
        <h2 id="admin-title">{texts.title}</h2>
        <Button icon="close" onClick={close}>{t.close}</Button>
      </div>
      <div class="admin-tabs scrolls" role="tablist" aria-label={texts.title} onKeyDown={onKeyDown}>
        {NAMES.map((name) => {
          const isShown = name === shown.value;
          return (
            <button
              key={name}
              type="button"
              role="tab"
              id={`admin-tab-${name}`}
              aria-controls="admin-panel"
              aria-selected={isShown}
              tabIndex={isShown ? 0 : -1}
              onClick={() => (shown.value = name)}
            >
              {texts.tabs[name]}
            </button>
          );
        })}
      </div>
      <div id="admin-panel" role="tabpanel" tabIndex={0} aria-labelledby={`admin-tab-${shown.value}`}><Panel key={shown.value} /></div>
    </>
  );
}
