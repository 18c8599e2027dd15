// Custom tools and MCP servers: list, create, edit, delete, import and try.

import { request } from "../api/client.ts";
import { store, withoutEmpty, type ItemForm, type Values } from "./form.tsx";
import { Card, FormLink, Loaded, RemoveAction, usePages } from "./list.tsx";
import { texts } from "./texts.ts";
import { IMPORT, importForm, Trial } from "./tool-trial.tsx";
import { hrefOf, NEW } from "./view.ts";

interface Endpoint {
  url?: string;
  urlTemplate?: string;
  method?: string;
  headers?: object;
  auth?: { type: string; header?: string; username?: string; tokenEnv?: string; secret?: Record<string, string> };
  timeoutSeconds?: number;
}

/** A row of a custom tool or of an MCP server. */
interface Tool {
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

const PATH = "/api/admin/tools";

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** The panel of tools. */
export function ToolsPanel() {
  const pages = usePages<Tool>("tools", PATH);
  const card = (tool: Tool) => {
    const notes = [texts.tools.types[tool.type ?? "invokable"], tool.enabled === false ? texts.off : ""];
    return (
      <Card key={tool.id} title={tool.name} notes={notes} text={tool.description}>
        <FormLink label={texts.tools.edit} name={tool.name} href={hrefOf("tools", tool.id)} />
        <RemoveAction name={tool.name} path={pathOf(tool.id)} onRemoved={() => void pages.refresh()} />
      </Card>
    );
  };
  const head = (
    <div class="row">
      <FormLink label={texts.tools.add} href={hrefOf("tools", NEW)} />
      <FormLink icon="data" label={texts.tools.import} href={hrefOf("tools", IMPORT)} />
    </div>
  );
  return <Loaded pages={pages} head={head}>{(tools) => <ul class="admin-list">{tools.map(card)}</ul>}</Loaded>;
}

/** The form of a tool, with a trial of it, or of the import. */
export async function toolForm(id: string | null): Promise<ItemForm> {
  if (id === IMPORT) return importForm();
  const tool = id === null ? null : await request<Tool>("GET", pathOf(id));
  const label = texts.tools.fields;
  const { endpoint } = tool ?? { endpoint: {} as Endpoint };
  const current = endpoint.auth ?? { type: "none" };
  const [secretKind, secretName] = Object.entries(current.secret ?? {})[0] ?? ["env", ""];
  const [transform, transformPath] = Object.entries(tool?.responseTransform ?? {})[0] ?? ["none", ""];
  const isHttp = ({ type }: Record<string, string>) => type !== "mcp";
  const hasTransform = (choices: Record<string, string>) => isHttp(choices) && choices.transform !== "none";
  const uses = (kind: string) => ({ auth }: Record<string, string>) => auth === kind;
  const hasSecret = ({ auth }: Record<string, string>) => auth !== "none";
  const address = { value: endpoint.urlTemplate ?? endpoint.url, placeholder: "https://api.example.com/{city}" };
  const titles = texts.tools.groups;
  const groups: ItemForm["groups"] = {
    [titles.basics]: {
      type: { label: label.type, kind: "select", value: tool?.type ?? "invokable", options: texts.tools.types },
      name: { label: label.name, kind: "text", value: tool?.name, required: true, placeholder: "weather" },
      description: { label: label.description, kind: "area", value: tool?.description },
      enabled: { label: label.enabled, kind: "check", value: tool?.enabled ?? true },
    },
    [titles.request]: {
      url: { label: label.url, kind: "text", required: true, isWide: true, ...address },
      method: { label: label.method, kind: "select", value: endpoint.method ?? "GET", options: texts.tools.methods, isShown: isHttp },
      parameters: { label: label.parameters, kind: "json", value: tool?.parameters, placeholder: '{"city": {"type": "string"}}', isShown: isHttp },
      headers: { label: label.headers, kind: "json", value: endpoint.headers },
    },
    [label.auth]: {
      auth: { label: titles.kind, kind: "select", value: current.type, options: texts.tools.auths },
      authHeader: { label: label.authHeader, kind: "text", value: current.header, isShown: uses("api_key") },
      username: { label: label.username, kind: "text", value: current.username, isShown: uses("basic") },
      secretKind: { label: label.secretKind, kind: "select", value: secretKind, options: texts.tools.secretKinds, isShown: hasSecret },
      secretName: { label: label.secretName, kind: "text", value: secretName, placeholder: "TOOL_SECRET_WEATHER", isShown: hasSecret },
    },
    [texts.tools.response]: {
      transform: { label: label.transform, kind: "select", value: transform, options: texts.tools.transforms, isShown: isHttp },
      transformPath: { label: label.transformPath, kind: "text", value: transformPath, isShown: hasTransform },
    },
    [titles.limits]: {
      timeoutSeconds: { label: label.timeoutSeconds, kind: "number", value: endpoint.timeoutSeconds },
      rateLimit: { label: label.rateLimit, kind: "text", value: tool?.rateLimit },
      idempotent: { label: label.idempotent, kind: "check", value: tool?.idempotent ?? false },
      mask: { label: label.mask, kind: "check", value: tool?.mask ?? true },
    },
    [titles.catalogue]: {
      displayName: { label: label.displayName, kind: "text", value: tool?.displayName },
      category: { label: label.category, kind: "text", value: tool?.category },
      version: { label: label.version, kind: "text", value: tool?.version },
      tags: { label: label.tags, kind: "text", value: tool?.tags?.join(", ") },
    },
  };
  const save = async (values: Values) => store(PATH, id, toDocument(values, tool));
  const extra = tool && <Trial name={tool.name} isMcp={tool.type === "mcp"} path={`${pathOf(tool.id)}/test`} />;
  return { id: "tool-form", title: tool?.name ?? texts.tools.add, groups, save, extra };
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
