// The agent picker.

import { listAgents } from "./api.js";
import { byId, el } from "./dom.js";

/** The agent picker: shown when there is an agent in addition to the default one. */
export class Agents {
  #picker = byId("agent");
  #agents = [];

  constructor() {
    this.#picker.addEventListener("change", () => {
      localStorage.setItem("agent", this.#picker.value);
      this.#changed();
    });
  }

  /** Loads the list of agents and selects the user's last choice, else the default agent. */
  async load() {
    ({ agents: this.#agents } = await listAgents());
    this.#picker.replaceChildren(...this.#agents.map(({ id, name }) => el("option", { value: id }, name)));
    const find = (id) => this.#agents.find((agent) => agent.id === id);
    this.#picker.value = (find(localStorage.getItem("agent")) ?? find("default"))?.id ?? "";
    byId("agent-choice").hidden = this.#agents.length < 2;
    this.#changed();
  }

  /** The id to send, or null for the default agent. */
  get selected() {
    const id = this.#picker.value;
    return this.#agents.length > 1 && id !== "default" ? id : null;
  }

  #changed() {
    this.#picker.title = this.#agents.find(({ id }) => id === this.#picker.value)?.description ?? "";
  }
}
