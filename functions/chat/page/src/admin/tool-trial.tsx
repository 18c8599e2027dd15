// One call of a tool with its request and response, and the import of an OpenAPI document.

import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { request } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { Form, type Field, type ItemForm, type Values } from "./form.tsx";
import { texts } from "./texts.ts";

/** The item of the import in addresses. */
export const IMPORT = "import";

/** The trial of the stored tool, for any number of calls. */
export function Trial({ name, isMcp, path }: { name: string; isMcp: boolean; path: string }) {
  const result = useSignal<ComponentChildren>(null);
  const fields: Record<string, Field> = {
    ...(isMcp && { tool: { label: texts.tools.testTool, kind: "text", value: "" } as const }),
    arguments: { label: texts.tools.testArguments, kind: "json", value: {} },
  };
  const run = async (values: Values) => {
    result.value = <p>{t.loading}</p>;
    const body = isMcp && values.tool === undefined ? {} : { tool: values.tool, arguments: values.arguments ?? {} };
    try {
      result.value = <Answer answer={await request("POST", path, body)} />;
    } catch (thrown) {
      result.value = null;
      throw thrown;
    }
  };
  return (
    <>
      <Form id="trial-form" submit={texts.tools.run} groups={{ [texts.tools.testTitle(name)]: fields }} onSubmit={run} />
      <p class="hint">{texts.tools.testText}</p>
      <div class="trial" aria-live="polite">{result}</div>
    </>
  );
}

/** The parts of a trial's answer that are present. */
function Answer({ answer }: { answer: Record<string, unknown> }) {
  const { error, content, request: sent, response } = texts.tools;
  const labels: Record<string, string> = { error, content, request: sent, response };
  const names = new Set([...Object.keys(labels), ...Object.keys(answer)]);
  const parts = [...names].filter((name) => answer[name] !== null && answer[name] !== undefined);
  return (
    <>
      {parts.map((name) => {
        const [label, value] = [labels[name] ?? name, answer[name]];
        return [
          <h4>{label}</h4>,
          <pre class="scrolls" tabIndex={0} role="group" aria-label={label}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>,
        ];
      })}
    </>
  );
}

interface Imported {
  tools: { name: string }[];
  refused: { operation: string; reason: string }[];
}

/** The form of the import. */
export function importForm(): ItemForm {
  const result = signal<ComponentChildren>(null);
  const list = (title: string, items: string[]) => items.length > 0 && [<h4>{title}</h4>, <ul>{items.map((item) => <li>{item}</li>)}</ul>];
  const fields: Record<string, Field> = {
    document: { label: texts.tools.importDocument, kind: "json", value: undefined },
    dryRun: { label: texts.tools.importCheck, kind: "check", value: true },
  };
  const save = async ({ document, dryRun }: Values) => {
    const { tools, refused } = await request<Imported>("POST", "/api/admin/tools/import", { document, dryRun });
    const reasons = refused.map(({ operation, reason }) => t.labelled(operation, reason));
    result.value = [list(texts.tools.imported(tools.length), tools.map(({ name }) => name)), list(texts.tools.refused(refused.length), reasons)];
  };
  const extra = <div class="trial" aria-live="polite">{result}</div>;
  return { id: "import-form", title: texts.tools.importTitle, submit: texts.tools.run, groups: { "": fields }, save, extra, remains: true };
}
