// Agents: list, create, edit and delete.

import { button, el } from "../view/dom.ts";
import { openForm, type Values } from "./form.ts";
import type { Context } from "./kit.ts";
import { action, card } from "./list.ts";

interface Binding {
  tool: string;
  enabled?: boolean;
  config?: object;
  direct?: boolean;
}

interface Agent {
  id: string;
  name: string;
  createdAt?: string | null;
  updatedAt?: string | null;
  description?: string;
  systemPrompt?: string;
  model?: string;
  tools?: Binding[] | null;
  maxRounds?: number;
  toolChoice?: unknown;
  summarise?: boolean;
  preSearch?: boolean | "context";
  citationLinks?: boolean;
  enabled?: boolean;
}

/** The panel of agents. */
export async function agentsPanel(context: Context, refresh: () => void): Promise<HTMLElement[]> {
  const { texts } = context;
  const { agents } = await context.request<{ agents: Agent[] }>("GET", "/api/admin/agents");
  const row = (agent: Agent) => {
    const notes = [agent.model ?? "", agent.createdAt ? "" : texts.agents.builtIn, agent.enabled === false ? texts.off : ""];
    const remove = () =>
      context.confirm(texts.removeTitle(agent.name), texts.removeText, texts.remove, async () => {
        await context.request("DELETE", `/api/admin/agents/${encodeURIComponent(agent.id)}`);
        refresh();
      });
    return card(agent.name, notes, agent.description ?? "", [
      action(texts.edit, agent.name, () => void edit(context, agent, refresh)),
      ...(agent.createdAt ? [action(texts.remove, agent.name, remove, "text risky")] : []),
    ]);
  };
  const add = button(texts.agents.add, () => void edit(context, null, refresh), { iconName: "new" });
  return [add, el("ul", { class: "admin-list" }, agents.map(row))];
}

async function edit(context: Context, agent: Agent | null, refresh: () => void): Promise<void> {
  const { texts } = context;
  const [{ models }, names] = await Promise.all([
    context.request<{ models: { name: string }[] }>("GET", "/api/models"),
    toolNames(context),
  ]);
  const modelNames = [...new Set([...models.map(({ name }) => name), ...(agent?.model ? [agent.model] : [])])];
  const bindings = new Bindings(context, names, agent?.tools ?? null);
  const label = texts.agents.fields;
  const choice = typeof agent?.toolChoice === "string" ? agent.toolChoice : "auto";
  openForm(context, {
    id: "agent-form",
    title: agent?.name ?? texts.agents.add,
    submit: texts.save,
    fields: {
      name: { label: label.name, kind: "text", value: agent?.name ?? "", required: true },
      description: { label: label.description, kind: "text", value: agent?.description ?? "" },
      systemPrompt: { label: label.systemPrompt, kind: "area", value: agent?.systemPrompt ?? "" },
      model: {
        label: label.model,
        kind: "select",
        value: agent?.model ?? "",
        options: { "": texts.agents.defaultModel, ...Object.fromEntries(modelNames.map((name) => [name, name])) },
      },
      tools: { label: label.tools, kind: "node", node: bindings.element },
      maxRounds: { label: label.maxRounds, kind: "number", value: String(agent?.maxRounds ?? "") },
      toolChoice: { label: label.toolChoice, kind: "select", value: choice, options: texts.agents.toolChoices },
      preSearch: { label: label.preSearch, kind: "select", value: String(agent?.preSearch ?? false), options: texts.agents.preSearches },
      summarise: {
        label: label.summarise,
        kind: "select",
        value: String(agent?.summarise ?? ""),
        options: { "": texts.agents.serverDefault, true: texts.agents.yes, false: texts.agents.no },
      },
      citationLinks: { label: label.citationLinks, kind: "check", value: agent?.citationLinks ?? false },
      enabled: { label: label.enabled, kind: "check", value: agent?.enabled ?? true },
    },
    onSubmit: async (values) => {
      const path = agent ? `/api/admin/agents/${encodeURIComponent(agent.id)}` : "/api/admin/agents";
      await context.request(agent ? "PUT" : "POST", path, toDocument(agent, values, bindings.read()));
      refresh();
    },
  });
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

/** The document without the fields that have no value. */
export function withoutEmpty(document: object): object {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined && value !== null));
}

/** The names of the built-in tools and of the rows. */
async function toolNames({ request }: Context): Promise<string[]> {
  const [builtIn, rows] = await Promise.all([
    request<{ tools: { name: string; internal: boolean }[] }>("GET", "/api/tools"),
    request<{ tools: { name: string }[] }>("GET", "/api/admin/tools"),
  ]);
  return [...new Set([...builtIn.tools, ...rows.tools].map(({ name }) => name))];
}

/** The choice of tools: all built-in ones, or a list with fixed arguments and direct results. */
class Bindings {
  element = el("div", { class: "bindings" });
  #all = el("input", { type: "checkbox", id: "agent-all-tools" });
  #rows: { old: Binding; use: HTMLInputElement; direct: HTMLInputElement; config: HTMLInputElement }[];
  #context: Context;

  constructor(context: Context, names: string[], bindings: Binding[] | null) {
    this.#context = context;
    const { texts } = context;
    const bound = bindings ?? [];
    const others = names.filter((name) => bound.every(({ tool }) => tool !== name)).map((tool): Binding => ({ tool, enabled: false }));
    this.#all.checked = bindings === null;
    const list = el("ul", {});
    this.#rows = [...bound, ...others].map((old) => {
      const use = el("input", { type: "checkbox", checked: old.enabled !== false });
      const direct = el("input", { type: "checkbox", checked: old.direct ?? false });
      const label = texts.agents.config(old.tool);
      const config = el("input", { type: "text", class: "code-input", placeholder: "{}", "aria-label": label, title: label });
      config.value = old.config ? JSON.stringify(old.config) : "";
      const names = [el("label", { class: "check" }, use, old.tool), el("label", { class: "check" }, direct, texts.agents.direct)];
      list.append(el("li", {}, names, config));
      return { old, use, direct, config };
    });
    const show = () => {
      list.hidden = this.#all.checked;
    };
    this.#all.addEventListener("change", show);
    show();
    this.element.append(el("label", { class: "check" }, this.#all, texts.agents.allTools), list);
  }

  /** The bindings; undefined for all built-in tools. */
  read(): Binding[] | undefined {
    if (this.#all.checked) return undefined;
    return this.#rows
      .filter(({ use }) => use.checked)
      .map(({ old, direct, config }) => {
        const { config: _config, direct: _direct, ...rest } = old;
        const fixed = this.#parse(config.value.trim(), old.tool);
        return { ...rest, enabled: true, ...(direct.checked && { direct: true }), ...(fixed && { config: fixed }) };
      });
  }

  #parse(text: string, tool: string): object | undefined {
    if (text === "") return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(this.#context.texts.invalidJson(this.#context.texts.agents.config(tool)));
    }
  }
}
