// The model picker, and the note below the composer while the demo model is selected.

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

  /** Loads the list of models. */
  async load() {
    ({ models: this.#models } = await listModels());
    const options = this.#models.map((model) => el("option", { value: model.name }, label(model)));
    this.#picker.replaceChildren(...options);
    byId("model-choice").hidden = this.#models.length < 2;
    this.select(null);
  }

  /** Selects a conversation's model, else the user's last choice, else the server's default. */
  select(name) {
    const find = (wanted) => this.#models.find((model) => model.name === wanted);
    const model = find(name) ?? find(localStorage.getItem("model")) ?? this.#models.find((model) => model.default);
    if (model) this.#picker.value = model.name;
    this.#changed();
  }

  /** The name to send, or null if there is only one model. */
  get selected() {
    return this.#models.length > 1 ? this.#picker.value : null;
  }

  #changed() {
    const current = this.#models.find(({ name }) => name === this.#picker.value);
    byId("demo").hidden = !current?.demo;
  }
}

function label({ name, model, failing }) {
  const text = model && model !== name ? `${name} · ${model}` : name;
  return failing ? `${text} (failing)` : text;
}
