// One call of a tool with its request and response, and the import of an OpenAPI document.

import { signal, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { request } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { openForm, type Field } from "./form.tsx";
import { texts } from "./texts.ts";

/** The field that shows a form's result. */
const resultField = (result: Signal<ComponentChildren>): Field => ({
  label: texts.tools.response,
  kind: "node",
  content: <div class="trial" aria-live="polite">{result}</div>,
});

/** Opens the trial of a tool; it stays open for more calls. */
export function tryTool({ name, type }: { name: string; type?: string }, path: string): void {
  const result = signal<ComponentChildren>(null);
  const isMcp = type === "mcp";
  openForm({
    id: "trial-form",
    title: texts.tools.testTitle(name),
    submit: texts.tools.run,
    stays: true,
    fields: {
      ...(isMcp && { tool: { label: texts.tools.testTool, kind: "text", value: "" } as const }),
      arguments: { label: texts.tools.testArguments, kind: "json", value: {} },
      result: resultField(result),
    },
    onSubmit: async (values) => {
      result.value = <p>{t.loading}</p>;
      const body = isMcp && values.tool === undefined ? {} : { tool: values.tool, arguments: values.arguments ?? {} };
      try {
        result.value = <Answer answer={await request("POST", `${path}/test`, body)} />;
      } catch (thrown) {
        result.value = null;
        throw thrown;
      }
    },
  });
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
          <h3>{label}</h3>,
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

/** Opens the import. */
export function importTools(refresh: () => void): void {
  const result = signal<ComponentChildren>(null);
  const list = (title: string, items: string[]) => items.length > 0 && [<h3>{title}</h3>, <ul>{items.map((item) => <li>{item}</li>)}</ul>];
  openForm({
    id: "import-form",
    title: texts.tools.importTitle,
    submit: texts.tools.run,
    stays: true,
    fields: {
      document: { label: texts.tools.importDocument, kind: "json", value: undefined },
      dryRun: { label: texts.tools.importCheck, kind: "check", value: true },
      result: resultField(result),
    },
    onSubmit: async ({ document, dryRun }) => {
      const { tools, refused } = await request<Imported>("POST", "/api/admin/tools/import", { document, dryRun });
      const reasons = refused.map(({ operation, reason }) => `${operation}: ${reason}`);
      result.value = [list(texts.tools.imported(tools.length), tools.map(({ name }) => name)), list(texts.tools.refused(refused.length), reasons)];
      if (dryRun !== true) refresh();
    },
  });
}
