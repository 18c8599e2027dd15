// Agents: list, create, edit and delete.

import { request } from "../api/client.ts";
import type { Model } from "../api/types.ts";
import { inLanguage, modelLabel } from "../state/choice.ts";
import { labelOf } from "../state/model-label.ts";
import { bindingRows, Bindings, readBindings, type Binding } from "./bindings.tsx";
import { store, withoutEmpty, type ItemForm, type Values } from "./form.tsx";
import { Card, FormLink, Loaded, RemoveAction, usePages } from "./list.tsx";
import { texts } from "./texts.ts";
import { hrefOf, NEW } from "./view.ts";

interface Agent {
  id: string;
  name: string;
  createdAt?: string | null;
  updatedAt?: string | null;
  description?: string | null;
  systemPrompt?: string | null;
  model?: string | null;
  tools?: Binding[] | null;
  maxRounds?: number | null;
  toolChoice?: unknown;
  summarise?: boolean;
  preSearch?: boolean | "context";
  citationLinks?: boolean;
  followUps?: boolean;
  groups?: string[];
  enabled?: boolean;
}

const PATH = "/api/admin/agents";

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** The panel of agents. */
export function AgentsPanel() {
  const pages = usePages<Agent>("agents", PATH);
  const refresh = () => void pages.refresh();
  const card = (agent: Agent) => {
    const notes = [modelLabel(agent.model ?? ""), agent.createdAt ? "" : texts.agents.builtIn, agent.enabled === false ? texts.off : "", ...(agent.groups ?? [])];
    const name = agent.createdAt ? agent.name : inLanguage(agent.name);
    return (
      <Card key={agent.id} title={name} notes={notes} text={inLanguage(agent.description ?? "")}>
        <FormLink label={texts.edit} name={name} href={hrefOf("agents", agent.id)} />
        {agent.createdAt && <RemoveAction name={agent.name} path={pathOf(agent.id)} onRemoved={refresh} />}
      </Card>
    );
  };
  const head = <FormLink label={texts.agents.add} href={hrefOf("agents", NEW)} />;
  return <Loaded pages={pages} head={head}>{(agents) => <ul class="admin-list">{agents.map(card)}</ul>}</Loaded>;
}

/** The form of an agent. */
export async function agentForm(id: string | null): Promise<ItemForm> {
  const [agent, { models }, tools] = await Promise.all([
    id === null ? null : request<Agent>("GET", pathOf(id)),
    request<{ models: Model[] }>("GET", "/api/models"),
    toolNames(),
  ]);
  const modelNames = [...new Set([...models.map(({ name }) => name), ...(agent?.model ? [agent.model] : [])])];
  const bindings = bindingRows(tools, agent?.tools ?? null);
  const label = texts.agents.fields;
  const toolChoice = typeof agent?.toolChoice === "string" ? agent.toolChoice : "auto";
  const modelOptions = { "": texts.agents.defaultModel, ...Object.fromEntries(modelNames.map((name) => [name, labelOf(name, models)])) };
  const summaries = { "": texts.agents.serverDefault, true: texts.agents.yes, false: texts.agents.no };
  const groups: ItemForm["groups"] = {
    [texts.agents.groups.basics]: {
      name: { label: label.name, kind: "text", value: agent?.name, required: true },
      description: { label: label.description, kind: "text", value: agent?.description },
      enabled: { label: label.enabled, kind: "check", value: agent?.enabled ?? true },
      groups: { label: label.groups, kind: "names", value: agent?.groups },
    },
    [texts.agents.groups.model]: {
      systemPrompt: { label: label.systemPrompt, kind: "area", value: agent?.systemPrompt },
      model: { label: label.model, kind: "select", value: agent?.model ?? "", options: modelOptions },
    },
    [label.tools]: {
      tools: { label: label.tools, kind: "node", content: <Bindings {...bindings} /> },
      maxRounds: { label: label.maxRounds, kind: "number", value: agent?.maxRounds },
      toolChoice: { label: label.toolChoice, kind: "select", value: toolChoice, options: texts.agents.toolChoices },
      preSearch: { label: label.preSearch, kind: "select", value: String(agent?.preSearch ?? false), options: texts.agents.preSearches },
    },
    [texts.agents.groups.answers]: {
      summarise: { label: label.summarise, kind: "select", value: String(agent?.summarise ?? ""), options: summaries },
      citationLinks: { label: label.citationLinks, kind: "check", value: agent?.citationLinks ?? false },
      followUps: { label: label.followUps, kind: "check", value: agent?.followUps ?? false },
    },
  };
  const save = async (values: Values) => store(PATH, id, toDocument(agent, values, readBindings(bindings)));
  return { id: "agent-form", title: agent?.name ?? texts.agents.add, groups, save };
}

function toDocument(agent: Agent | null, values: Values, tools: Binding[] | undefined): object {
  const { id: _id, createdAt: _created, updatedAt: _updated, ...rest } = agent ?? ({} as Partial<Agent>);
  const { preSearch, summarise, ...plain } = values;
  const named = typeof agent?.toolChoice === "object" && values.toolChoice === "auto";
  return withoutEmpty({
    ...rest,
    ...plain,
    tools,
    // The choice of one tool has no field; it stays unless another choice is made.
    toolChoice: named ? agent.toolChoice : values.toolChoice,
    preSearch: preSearch === "context" ? "context" : preSearch === "true",
    summarise: summarise === undefined ? undefined : summarise === "true",
  });
}

/** The names of the built-in tools and of the rows. */
async function toolNames(): Promise<string[]> {
  const [builtIn, rows] = await Promise.all([
    request<{ tools: { name: string; internal: boolean }[] }>("GET", "/api/tools"),
    request<{ tools: { name: string }[] }>("GET", "/api/admin/tools"),
  ]);
  return [...new Set([...builtIn.tools, ...rows.tools].map(({ name }) => name))];
}
