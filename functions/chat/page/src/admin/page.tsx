// The pages of the administration: the lists, and for an item its form, with what belongs to it.

import type { Signal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { t } from "../i18n/index.ts";
import { addressOf } from "../state/address.ts";
import { openId } from "../state/open.ts";
import { Icon } from "../view/controls.tsx";
import { useLoaded } from "../view/loaded.ts";
import { agentForm, AgentsPanel } from "./agents.tsx";
import { articleForm, ArticlesPanel } from "./articles.tsx";
import { Form, type ItemForm, type Values } from "./form.tsx";
import { keyForm, KeysPanel } from "./keys.tsx";
import { CallsPanel, FeedbackPanel, ModelsPanel } from "./state.tsx";
import { texts } from "./texts.ts";
import { toolForm, ToolsPanel } from "./tools.tsx";
import { UsagePanel } from "./usage.tsx";
import { form, hrefOf, NEW, type Address } from "./view.ts";

type PanelName = keyof typeof texts.tabs;

/** The list of each panel, and the form of its items. */
const PANELS: Record<PanelName, [List: FunctionComponent, load?: (id: string | null) => Promise<ItemForm>]> = {
  agents: [AgentsPanel, agentForm],
  tools: [ToolsPanel, toolForm],
  articles: [ArticlesPanel, articleForm],
  keys: [KeysPanel, keyForm],
  calls: [CallsPanel],
  feedback: [FeedbackPanel],
  models: [ModelsPanel],
  usage: [UsagePanel],
};

const NAMES = Object.keys(PANELS) as PanelName[];

/** The administration at an address. */
export function Administration({ address }: { address: Signal<Address> }) {
  const { panel, item } = address.value;
  const shown = NAMES.find((name) => name === panel) ?? "agents";
  const [List, load] = PANELS[shown];
  return (
    <>
      <div class="admin-head">
        <h2 id="admin-title">{texts.title}</h2>
        <a class="button quiet" href={openId.value === null ? "#/" : addressOf(openId.value)}><Icon name="close" />{t.close}</a>
      </div>
      <nav class="admin-tabs" aria-label={texts.title}>
        {NAMES.map((name) => <a key={name} id={`admin-tab-${name}`} aria-current={name === shown ? "page" : undefined} href={hrefOf(name)}>{texts.tabs[name]}</a>)}
      </nav>
      <div id="admin-panel" key={`${shown}/${item}`}>
        {item !== null && load ? <ItemPage panel={shown} load={() => load(item === NEW ? null : item)} /> : <><Heading>{texts.tabs[shown]}</Heading><List /></>}
      </div>
    </>
  );
}

/** A heading, which has the focus when its page appears. */
function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    // On a phone the panels are in a line that scrolls.
    document.querySelector(".admin-tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, []);
  return <h3 tabIndex={-1} ref={heading}>{children}</h3>;
}

function ItemPage({ panel, load }: { panel: PanelName; load: () => Promise<ItemForm> }) {
  const { value, failure } = useLoaded(load);
  const back = <a class="admin-back" href={hrefOf(panel)}>{`← ${texts.tabs[panel]}`}</a>;
  if (value === null) return <>{back}{failure ? <p class="field-error" role="alert">{failure}</p> : <p>{t.loading}</p>}</>;
  const { title, save, extra, remains = false, ...spec } = value;
  const onSubmit = async (values: Values) => {
    const address = location.hash;
    await save(values);
    // Another form may be open by now.
    if (location.hash !== address) return;
    form.isChanged = false;
    if (!remains) location.hash = hrefOf(panel);
  };
  return (
    <>
      {back}
      <Heading>{title}</Heading>
      <div class="admin-item">
        <Form {...spec} onSubmit={onSubmit} isGuarded={!remains} />
        {extra && <div class="admin-extra">{extra}</div>}
      </div>
    </>
  );
}
