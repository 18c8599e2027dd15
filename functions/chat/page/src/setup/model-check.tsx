// The check of the configured models: one small request to each, which is not stored.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { errorText } from "../answer/strings.ts";
import { ApiError, listModels, request } from "../api/client.ts";
import type { Model } from "../api/types.ts";
import { durationText } from "../i18n/index.ts";
import { Button, Icon } from "../view/controls.tsx";
import { failureText } from "../view/failures.ts";
import { texts } from "./texts.ts";

/** A model may take this long for its first answer, for example while Ollama loads it. */
const TIMEOUT_MS = 120_000;

/** Reasoning counts as output, so this is more than the answer needs. */
const MAX_TOKENS = 64;

interface Result extends Model {
  works: boolean;
  text: string;
  code: string | undefined;
}

/** The button and the results. The children appear when a model other than the demo has answered. */
export function ModelCheck({ children }: { children?: ComponentChildren }) {
  const results = useSignal<Result[]>([]);
  const state = useSignal("");
  const runs = useSignal(false);
  const works = useSignal(false);
  const run = async () => {
    if (runs.value) return;
    [runs.value, state.value, results.value] = [true, texts.checking, []];
    try {
      const { models } = await listModels();
      if (models.length === 0) state.value = texts.noModels;
      const check = async (model: Model) => {
        const result = await checkModel(model);
        results.value = [...results.value, result];
      };
      await Promise.all(models.map(check));
      if (models.length > 0) state.value = "";
      works.value ||= results.value.some((result) => result.works);
    } catch (thrown) {
      state.value = failureText(thrown);
    }
    runs.value = false;
  };
  return (
    <div class="model-check">
      <Button icon="check" aria-disabled={runs.value || undefined} onClick={() => void run()}>{texts.check}</Button>
      <p class="state" role="status">{state}</p>
      <ul class="check-results">{results.value.map((result) => <ResultRow key={result.name} result={result} />)}</ul>
      {works.value && children}
    </div>
  );
}

function ResultRow({ result: { name, model, works, text, code } }: { result: Result }) {
  return (
    <li class={works ? "ok" : "failed"}>
      <Icon name={works ? "check" : "alert"} />
      <strong>{name}</strong>
      {model !== name && <span class="dim">{model}</span>}
      <span>{text}</span>
      {code && <code>{code}</code>}
    </li>
  );
}

/** Checks one model with one small answer without tools. */
async function checkModel(model: Model): Promise<Result> {
  const began = performance.now();
  const messages = [{ role: "user", content: "Reply with OK." }];
  const body = { model: model.name, messages, max_tokens: MAX_TOKENS, tool_choice: "none" };
  const failure = model.demo
    ? null
    : await request("POST", "/v1/chat/completions", body, TIMEOUT_MS).then(() => null, ApiError.from);
  const answered = texts.works(durationText(performance.now() - began));
  const text = failure ? errorText(failure) : model.demo ? texts.demo : answered;
  return { ...model, works: failure === null && !model.demo, text, code: failure?.code };
}
