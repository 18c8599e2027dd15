// What the server does: tool calls, models and usage.

import { button, el } from "../view/dom.ts";
import type { Context } from "./kit.ts";
import { table, time } from "./list.ts";

interface Call {
  owner: string;
  tool: string;
  arguments: unknown;
  ok: boolean;
  error?: string | null;
  cached: boolean;
  durationMs: number;
  bytes: number;
  at: string;
}

/** The panel of tool calls: pages of all calls, or those of one answer. */
export async function callsPanel(context: Context): Promise<HTMLElement[]> {
  const { texts } = context;
  const list = el("div", {});
  const more = button(texts.more, () => void next());
  const field = el("input", { type: "search", id: "call-message", autocomplete: "off", spellcheck: false });
  const filter = el("form", { class: "admin-filter" }, el("label", { for: "call-message" }, texts.calls.message), field);
  filter.append(el("button", { type: "submit", class: "button" }, texts.calls.filter));
  let calls: Call[] = [];
  let cursor: string | null = null;
  const load = async () => {
    const message = field.value.trim();
    const query = new URLSearchParams(message ? { message } : { limit: "50", ...(cursor && { cursor }) });
    const page = await context.request<{ executions: Call[]; nextCursor: string | null }>("GET", `/api/admin/executions?${query}`);
    calls = [...calls, ...page.executions];
    cursor = page.nextCursor;
    more.hidden = cursor === null;
    const rows = calls.map((call) => callRow(context, call));
    list.replaceChildren(rows.length === 0 ? el("p", {}, texts.none) : table(texts.tabs.calls, texts.calls.columns, rows));
  };
  const next = () => load().catch((thrown: unknown) => list.append(el("p", { class: "field-error", role: "alert" }, context.errorText(thrown))));
  filter.addEventListener("submit", (event) => {
    event.preventDefault();
    calls = [];
    cursor = null;
    void next();
  });
  await load();
  return [filter, list, more];
}

function callRow(context: Context, { owner, tool, arguments: args, ok, error, cached, durationMs, bytes, at }: Call): string[] {
  const { calls } = context.texts;
  const outcome = ok ? (cached ? calls.cached : calls.ok) : (error ?? context.texts.tools.error);
  const format = new Intl.NumberFormat(context.locale);
  return [time(context, at), owner, tool, JSON.stringify(args), outcome, `${format.format(durationMs)} ms`, format.format(bytes)];
}

interface Model {
  name: string;
  provider: string;
  model: string;
  default: boolean;
  demo: boolean;
  failing?: boolean;
  tools: string;
  toolsFrom: string;
}

/** The panel of models: their state, and a check of each. */
export async function modelsPanel(context: Context): Promise<HTMLElement[]> {
  const { models: texts, tabs } = context.texts;
  const { models } = await context.request<{ models: Model[] }>("GET", "/api/models");
  const rows = models.map(({ name, provider, model, default: isDefault, demo, failing, tools, toolsFrom }) => [
    [name, ...(model === name ? [] : [model]), ...(isDefault ? [texts.isDefault] : [])].join(" · "),
    provider,
    `${tools} (${toolsFrom})`,
    failing ? texts.failing : demo ? texts.demo : texts.ready,
  ]);
  return [table(tabs.models, texts.columns, rows), context.modelCheck()];
}
