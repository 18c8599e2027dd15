// The choice of agent.

import { listAgents } from "./api.js";
import { byId, el } from "./dom.js";

/** The agent picker: shown when there is more than the default agent. */
export class Agents {
  #picker = byId("agent");
  #agents = [];

  constructor() {
    this.#picker.addEventListener("change", () => {
      localStorage.setItem("agent", this.#picker.value);
      this.#changed();
    });
  }

  /** Reads the list of agents and selects the one that the user chose last, or the default one. */
  async load() {
    ({ agents: this.#agents } = await listAgents());
    this.#picker.replaceChildren(...this.#agents.map(({ id, name }) => el("option", { value: id }, name)));
    const known = (id) => this.#agents.find((agent) => agent.id === id);
    this.#picker.value = (known(localStorage.getItem("agent")) ?? known("default"))?.id ?? "";
    byId("agent-choice").hidden = this.#agents.length < 2;
    this.#changed();
  }

  /** The id to send, or null when the default agent answers. */
  get selected() {
    const id = this.#picker.value;
    return this.#agents.length > 1 && id !== "default" ? id : null;
  }

  #changed() {
    this.#picker.title = this.#agents.find(({ id }) => id === this.#picker.value)?.description ?? "";
  }
}
