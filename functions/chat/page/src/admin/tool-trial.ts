// One call of a tool with its request and response, and the import of an OpenAPI document.

import { el } from "../view/dom.ts";
import { openForm } from "./form.ts";
import type { Context } from "./kit.ts";
import type { Tool } from "./tools.ts";

/** Opens the trial of a tool; it stays open for more calls. */
export function tryTool(context: Context, tool: Tool): void {
  const { texts } = context;
  const result = el("div", { class: "trial", "aria-live": "polite" });
  openForm(context, {
    id: "trial-form",
    title: texts.tools.testTitle(tool.name),
    submit: texts.tools.run,
    stay: true,
    fields: {
      ...(tool.type === "mcp" && { tool: { label: texts.tools.testTool, kind: "text", value: "" } as const }),
      arguments: { label: texts.tools.testArguments, kind: "json", value: {} },
      result: { label: texts.tools.response, kind: "node", node: result },
    },
    onSubmit: async (values) => {
      result.replaceChildren(el("p", {}, texts.loading));
      const body = tool.type === "mcp" && values.tool === undefined ? {} : { tool: values.tool, arguments: values.arguments ?? {} };
      try {
        const path = `/api/admin/tools/${encodeURIComponent(tool.id)}/test`;
        result.replaceChildren(...parts(context, await context.request<Record<string, unknown>>("POST", path, body)));
      } catch (thrown) {
        result.replaceChildren();
        throw thrown;
      }
    },
  });
}

/** The parts of a trial's answer that are present. */
function parts({ texts }: Context, answer: Record<string, unknown>): HTMLElement[] {
  const labels: [string, string][] = [
    ["error", texts.tools.error],
    ["content", texts.tools.content],
    ["request", texts.tools.request],
    ["response", texts.tools.response],
  ];
  const known = new Set(labels.map(([name]) => name));
  const others = Object.keys(answer).filter((name) => !known.has(name)).map((name): [string, string] => [name, name]);
  return [...labels, ...others].flatMap(([name, label]) => {
    const value = answer[name];
    if (value === null || value === undefined) return [];
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return [el("h3", {}, label), el("pre", { class: "scrolls", tabindex: 0, role: "group", "aria-label": label }, text)];
  });
}

/** Opens the import. */
export function importTools(context: Context, refresh: () => void): void {
  const { texts } = context;
  const result = el("div", { class: "trial", "aria-live": "polite" });
  openForm(context, {
    id: "import-form",
    title: texts.tools.importTitle,
    submit: texts.tools.run,
    stay: true,
    fields: {
      document: { label: texts.tools.importDocument, kind: "json", value: undefined },
      dryRun: { label: texts.tools.importCheck, kind: "check", value: true },
      result: { label: texts.tools.response, kind: "node", node: result },
    },
    onSubmit: async ({ document, dryRun }) => {
      const answer = await context.request<{ tools: { name: string }[]; refused: { operation: string; reason: string }[] }>(
        "POST",
        "/api/admin/tools/import",
        { document, dryRun },
      );
      const made = answer.tools.map(({ name }) => el("li", {}, name));
      const refused = answer.refused.map(({ operation, reason }) => el("li", {}, `${operation}: ${reason}`));
      const list = (title: string, items: HTMLElement[]) => (items.length ? [el("h3", {}, title), el("ul", {}, items)] : []);
      result.replaceChildren(...list(texts.tools.imported(made.length), made), ...list(texts.tools.refused(refused.length), refused));
      if (dryRun !== true) refresh();
    },
  });
}
