// Custom tools and MCP servers: list, create, edit, delete, import and try.

import { button, el } from "../view/dom.ts";
import { withoutEmpty } from "./agents.ts";
import { openForm, type OpenForm, type Values } from "./form.ts";
import type { Context } from "./kit.ts";
import { action, card } from "./list.ts";
import { importTools, tryTool } from "./tool-trial.ts";

interface Endpoint {
  url?: string;
  urlTemplate?: string;
  method?: string;
  headers?: object;
  auth?: { type: string; header?: string; username?: string; tokenEnv?: string; secret?: Record<string, string> };
  timeoutSeconds?: number;
}

/** A row of a custom tool or of an MCP server. */
export interface Tool {
  id: string;
  name: string;
  type?: "invokable" | "streamable" | "mcp";
  description: string;
  endpoint: Endpoint;
  parameters?: object;
  responseTransform?: { pointer?: string; jmespath?: string } | null;
  rateLimit?: string;
  idempotent?: boolean;
  mask?: boolean;
  enabled?: boolean;
  displayName?: string;
  category?: string;
  version?: string;
  tags?: string[];
}

/** The panel of tools. */
export async function toolsPanel(context: Context, refresh: () => void): Promise<HTMLElement[]> {
  const { texts } = context;
  const { tools } = await context.request<{ tools: Tool[] }>("GET", "/api/admin/tools");
  const row = (tool: Tool) => {
    const notes = [texts.tools.types[tool.type ?? "invokable"], tool.enabled === false ? texts.off : ""];
    const remove = () =>
      context.confirm(texts.removeTitle(tool.name), texts.removeText, texts.remove, async () => {
        await context.request("DELETE", `/api/admin/tools/${encodeURIComponent(tool.id)}`);
        refresh();
      });
    return card(tool.name, notes, tool.description, [
      action(texts.tools.test, tool.name, () => tryTool(context, tool)),
      action(texts.edit, tool.name, () => edit(context, tool, refresh)),
      action(texts.remove, tool.name, remove, "text risky"),
    ]);
  };
  const head = el(
    "div",
    { class: "row" },
    button(texts.tools.add, () => edit(context, null, refresh), { iconName: "new" }),
    button(texts.tools.import, () => importTools(context, refresh)),
  );
  return [head, tools.length === 0 ? el("p", {}, texts.none) : el("ul", { class: "admin-list" }, tools.map(row))];
}

function edit(context: Context, tool: Tool | null, refresh: () => void): void {
  const { texts } = context;
  const label = texts.tools.fields;
  const { endpoint } = tool ?? { endpoint: {} as Endpoint };
  const auth = endpoint.auth ?? { type: "none" };
  const [secretKind, secretName] = Object.entries(auth.secret ?? {})[0] ?? ["env", ""];
  const transform = tool?.responseTransform ?? {};
  const [transformKind, transformPath] = Object.entries(transform)[0] ?? ["none", ""];
  const state = { type: tool?.type ?? "invokable", auth: auth.type, transform: transformKind };
  let form: OpenForm | null = null;
  const showFields = () => {
    const isMcp = state.type === "mcp";
    for (const name of ["method", "parameters", "transform"]) form?.show(name, !isMcp);
    form?.show("transformPath", !isMcp && state.transform !== "none");
    form?.show("authHeader", state.auth === "api_key");
    form?.show("username", state.auth === "basic");
    for (const name of ["secretKind", "secretName"]) form?.show(name, state.auth !== "none");
  };
  const change = (name: keyof typeof state) => (value: string) => {
    (state as Record<string, string>)[name] = value;
    showFields();
  };
  form = openForm(context, {
    id: "tool-form",
    title: tool?.name ?? texts.tools.add,
    submit: texts.save,
    fields: {
      type: { label: label.type, kind: "select", value: state.type, options: texts.tools.types, onChange: change("type") },
      name: { label: label.name, kind: "text", value: tool?.name ?? "", required: true, placeholder: "weather" },
      description: { label: label.description, kind: "area", value: tool?.description ?? "" },
      url: { label: label.url, kind: "text", value: endpoint.urlTemplate ?? endpoint.url ?? "", required: true, placeholder: "https://api.example.com/{city}" },
      method: { label: label.method, kind: "select", value: endpoint.method ?? "GET", options: texts.tools.methods },
      parameters: { label: label.parameters, kind: "json", value: tool?.parameters, placeholder: '{"city": {"type": "string"}}' },
      auth: { label: label.auth, kind: "select", value: auth.type, options: texts.tools.auths, onChange: change("auth") },
      authHeader: { label: label.authHeader, kind: "text", value: auth.header ?? "" },
      username: { label: label.username, kind: "text", value: auth.username ?? "" },
      secretKind: { label: label.secretKind, kind: "select", value: secretKind, options: texts.tools.secretKinds },
      secretName: { label: label.secretName, kind: "text", value: secretName, placeholder: "TOOL_SECRET_WEATHER" },
      headers: { label: label.headers, kind: "json", value: endpoint.headers },
      transform: { label: label.transform, kind: "select", value: transformKind, options: texts.tools.transforms, onChange: change("transform") },
      transformPath: { label: label.transformPath, kind: "text", value: transformPath ?? "" },
      timeoutSeconds: { label: label.timeoutSeconds, kind: "number", value: String(endpoint.timeoutSeconds ?? "") },
      rateLimit: { label: label.rateLimit, kind: "text", value: tool?.rateLimit ?? "" },
      displayName: { label: label.displayName, kind: "text", value: tool?.displayName ?? "" },
      category: { label: label.category, kind: "text", value: tool?.category ?? "" },
      version: { label: label.version, kind: "text", value: tool?.version ?? "" },
      tags: { label: label.tags, kind: "text", value: (tool?.tags ?? []).join(", ") },
      idempotent: { label: label.idempotent, kind: "check", value: tool?.idempotent ?? false },
      mask: { label: label.mask, kind: "check", value: tool?.mask ?? true },
      enabled: { label: label.enabled, kind: "check", value: tool?.enabled ?? true },
    },
    onSubmit: async (values) => {
      const path = tool ? `/api/admin/tools/${encodeURIComponent(tool.id)}` : "/api/admin/tools";
      await context.request(tool ? "PUT" : "POST", path, toDocument(values, tool));
      refresh();
    },
  });
  showFields();
}

/** The document of the form's values; what the form has no field for is that of the row. */
function toDocument(values: Values, row: Tool | null): object {
  const tokenEnv = row?.endpoint.auth?.tokenEnv;
  const { type, url, method, auth, authHeader, username, secretKind, secretName, headers, transform, transformPath, timeoutSeconds, tags, idempotent, ...rest } = values;
  const secret = secretName === undefined ? undefined : { [String(secretKind)]: secretName };
  const named = secret === undefined && tokenEnv !== undefined ? { tokenEnv } : { secret };
  const credentials = auth === "none" ? undefined : withoutEmpty({ type: auth, header: authHeader, username, ...named });
  const address = type === "mcp" ? { url } : { urlTemplate: url, method };
  return withoutEmpty({
    ...rest,
    type,
    endpoint: withoutEmpty({ ...address, headers, auth: credentials, timeoutSeconds }),
    responseTransform: transform === undefined || transform === "none" ? undefined : { [String(transform)]: transformPath ?? "" },
    tags: typeof tags === "string" ? tags.split(/[,，]/).map((tag) => tag.trim()).filter(Boolean) : undefined,
    // Without a value the server decides by the method.
    idempotent: idempotent === true ? true : row?.idempotent === undefined ? undefined : false,
  });
}
