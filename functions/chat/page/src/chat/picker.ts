// The choice of model and agent: one control in the composer, shown when there is something to choose.

import { listAgents, listModels } from "../api/client.ts";
import type { Agent, Model } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { byId } from "../view/dom.ts";
import { ListboxMenu, type Group } from "../view/listbox.ts";

const DEFAULT_AGENT = "default";

/** The picker; it also shows the note of the demo model. */
export class Picker {
  #menu = new ListboxMenu(t.composer.choose);
  #models: Model[] = [];
  #agents: Agent[] = [];
  #model = "";
  #agent = DEFAULT_AGENT;

  constructor() {
    byId("choice").append(this.#menu.element);
    this.#menu.element.hidden = true;
  }

  /** Loads the models and the agents. */
  async load(): Promise<void> {
    const [{ models }, { agents }] = await Promise.all([listModels(), listAgents()]);
    this.#models = models;
    this.#agents = agents.map((agent) => (agent.id === DEFAULT_AGENT && agent.name === "Default" ? { ...agent, name: t.composer.defaultAgent } : agent));
    const known = (id: string | null) => agents.find((agent) => agent.id === id)?.id;
    this.#agent = known(localStorage.getItem("agent")) ?? DEFAULT_AGENT;
    this.select(null);
  }

  /** Selects a conversation's model, else the user's last choice, else the server's default. */
  select(name: string | null | undefined): void {
    const find = (wanted: string | null | undefined) => this.#models.find((model) => model.name === wanted);
    const model = find(name) ?? find(localStorage.getItem("model")) ?? this.#models.find((model) => model.default);
    this.#model = model?.name ?? "";
    this.#show();
  }

  /** The models of the server. */
  get models(): readonly Model[] {
    return this.#models;
  }

  /** The agents that the user may choose. */
  get agents(): readonly Agent[] {
    return this.#agents;
  }

  /** The user's model for new conversations; empty for the server's default. */
  get defaultModel(): string {
    return localStorage.getItem("model") ?? "";
  }

  /** The user's agent. */
  get defaultAgent(): string {
    return this.#agent;
  }

  /** Sets the model for new conversations; empty for the server's default. */
  setDefaultModel(name: string): void {
    if (name === "") localStorage.removeItem("model");
    else localStorage.setItem("model", name);
    this.select(null);
  }

  /** Sets the agent. */
  setDefaultAgent(id: string): void {
    localStorage.setItem("agent", id);
    this.#agent = id;
    this.#show();
  }

  /** The name of the model to send, or null if there is only one. */
  get model(): string | null {
    return this.#models.length > 1 ? this.#model : null;
  }

  /** The id of the agent to send, or null for the default agent. */
  get agent(): string | null {
    return this.#agents.length > 1 && this.#agent !== DEFAULT_AGENT ? this.#agent : null;
  }

  #show(): void {
    this.#menu.set([this.#modelGroup(), this.#agentGroup()]);
    const demo = this.#models.find(({ name }) => name === this.#model)?.demo ?? false;
    byId("demo").hidden = !demo;
    // The first example is a search, and the demo has pages about the product only.
    const search = document.querySelector(".example");
    if (search) search.textContent = (demo ? t.demo.example : t.welcome.examples[0]) ?? "";
  }

  #modelGroup(): Group {
    const options = this.#models.map(({ name, model, failing }) => {
      const details = [model !== name ? model : "", failing ? t.composer.failing : ""].filter(Boolean).join(" · ");
      return { value: name, label: name, description: details };
    });
    const onSelect = (name: string) => {
      localStorage.setItem("model", name);
      this.#model = name;
      this.#show();
    };
    return { name: t.composer.model, options, selected: this.#model, onSelect };
  }

  #agentGroup(): Group {
    const options = this.#agents.map(({ id, name, description }) => ({
      value: id,
      label: name,
      ...(description && { description }),
    }));
    return { name: t.composer.agent, options, selected: this.#agent, onSelect: (id) => this.setDefaultAgent(id) };
  }
}
