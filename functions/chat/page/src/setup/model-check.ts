// The check of the configured models: one small request to each, which is not stored.

import { errorText } from "../answer/strings.ts";
import { ApiError, listModels, request } from "../api/client.ts";
import type { Model } from "../api/types.ts";
import { durationText, t } from "../i18n/index.ts";
import { button, el, icon } from "../view/dom.ts";

/** A model may take this long for its first answer, for example while Ollama loads it. */
const TIMEOUT_MS = 120_000;

/** Reasoning counts as output, so this is more than the answer needs. */
const MAX_TOKENS = 64;

/** The button and the results. `onWorking` is called when a model other than the demo has answered. */
export function modelCheck(onWorking: () => void): HTMLElement {
  const results = el("ul", { class: "check-results" });
  const state = el("p", { class: "state", role: "status" });
  const run = async () => {
    if (start.getAttribute("aria-disabled") === "true") return;
    start.setAttribute("aria-disabled", "true");
    state.textContent = t.setup.checking;
    results.replaceChildren();
    try {
      const { models } = await listModels();
      state.textContent = models.length === 0 ? t.setup.noModels : t.setup.checking;
      const works = await Promise.all(models.map((model) => checkModel(model, results)));
      if (models.length > 0) state.textContent = "";
      if (works.includes(true)) onWorking();
    } catch (thrown) {
      state.textContent = errorText(ApiError.from(thrown));
    } finally {
      start.removeAttribute("aria-disabled");
    }
  };
  const start = button(t.setup.check, () => void run(), { iconName: "check", kind: "primary" });
  return el("div", { class: "model-check" }, start, state, results);
}

/** Requests one small answer without tools; resolves to the failure, or null. */
function requestAnswer(model: string): Promise<ApiError | null> {
  const messages = [{ role: "user", content: "Reply with OK." }];
  const body = { model, messages, max_tokens: MAX_TOKENS, tool_choice: "none" };
  return request("POST", "/v1/chat/completions", body, TIMEOUT_MS).then(
    () => null,
    (thrown: unknown) => ApiError.from(thrown),
  );
}

/** Checks one model and shows the result; resolves to whether a real model answered. */
async function checkModel({ name, model, demo }: Model, results: HTMLElement): Promise<boolean> {
  const began = performance.now();
  const failure = demo ? null : await requestAnswer(name);
  const answered = t.setup.works(durationText(performance.now() - began));
  const text = failure ? errorText(failure) : demo ? t.setup.demo : answered;
  const works = failure === null && !demo;
  const row = el("li", { class: works ? "ok" : "failed" }, icon(works ? "check" : "alert"), el("strong", {}, name));
  row.append(...(model === name ? [] : [el("span", { class: "dim" }, model)]), el("span", {}, text));
  if (failure) row.append(el("code", {}, failure.code));
  results.append(row);
  return works;
}
