// The choice of model, and the note that says when it is only the demo.

import { listModels } from "./api.js";
import { byId, el } from "./dom.js";

/** The model picker: shown when there is more than one model. */
export class Models {
  #picker = byId("model");
  #models = [];

  constructor() {
    this.#picker.addEventListener("change", () => {
      localStorage.setItem("model", this.#picker.value);
      this.#changed();
    });
  }

  /** Reads the list of models. */
  async load() {
    ({ models: this.#models } = await listModels());
    const options = this.#models.map((model) => el("option", { value: model.name }, label(model)));
    this.#picker.replaceChildren(...options);
    byId("model-choice").hidden = this.#models.length < 2;
    this.show(null);
  }

  /** Selects a conversation's model, or the one that the user chose last, or the server's default. */
  show(name) {
    const known = (wanted) => this.#models.find((model) => model.name === wanted);
    const chosen = known(name) ?? known(localStorage.getItem("model")) ?? this.#models.find((model) => model.default);
    if (chosen) this.#picker.value = chosen.name;
    this.#changed();
  }

  /** The name to send, or null when there is nothing to choose. */
  get selected() {
    return this.#models.length > 1 ? this.#picker.value : null;
  }

  #changed() {
    const current = this.#models.find(({ name }) => name === this.#picker.value);
    byId("demo").hidden = !current?.demo;
  }
}

function label({ name, model, failing }) {
  const known = model && model !== name ? `${name} · ${model}` : name;
  return failing ? `${known} (failing)` : known;
}
