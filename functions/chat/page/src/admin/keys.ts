// API keys: list, create, change and revoke.

import { button, el } from "../view/dom.ts";
import { withoutEmpty } from "./agents.ts";
import { openForm } from "./form.ts";
import type { Context } from "./kit.ts";
import { action, table, time } from "./list.ts";

interface Key {
  id: string;
  user: string;
  admin: boolean;
  citationLinks: boolean;
  state: string;
  createdAt: string;
  expiresAt?: string | null;
  /** Only in the response to its creation. */
  key?: string;
}

const DAY_MS = 86_400_000;

/** The panel of keys. */
export async function keysPanel(context: Context, refresh: () => void): Promise<HTMLElement[]> {
  const { texts } = context;
  const { keys } = await context.request<{ keys: Key[] }>("GET", "/api/admin/keys");
  const row = (key: Key) => {
    const user = el("span", {}, key.user, key.admin ? el("span", { class: "dim" }, ` · ${texts.keys.admin}`) : []);
    const state = Object.hasOwn(texts.keys.states, key.state) ? texts.keys.states[key.state as keyof typeof texts.keys.states] : key.state;
    const actions =
      key.state === "revoked"
        ? []
        : [
            action(texts.edit, key.user, () => change(context, key, refresh)),
            action(texts.keys.revoke, key.user, () => revoke(context, key, refresh), "text risky"),
          ];
    return [user, state, time(context, key.createdAt), time(context, key.expiresAt) || texts.keys.never, el("div", { class: "row" }, actions)];
  };
  const add = button(texts.keys.add, () => create(context, refresh), { iconName: "key" });
  return [add, keys.length === 0 ? el("p", {}, texts.none) : table(texts.tabs.keys, texts.keys.columns, keys.map(row))];
}

function create(context: Context, refresh: () => void): void {
  const { texts } = context;
  openForm(context, {
    id: "key-form",
    title: texts.keys.add,
    submit: texts.save,
    fields: {
      user: { label: texts.keys.user, kind: "text", value: "", required: true },
      expiresInDays: { label: texts.keys.expires, kind: "number", value: "90" },
      admin: { label: texts.keys.admin, kind: "check", value: false },
      citationLinks: { label: texts.keys.citationLinks, kind: "check", value: false },
    },
    onSubmit: async (values) => {
      const made = await context.request<Key>("POST", "/api/admin/keys", withoutEmpty(values));
      refresh();
      showOnce(context, made.key ?? "");
    },
  });
}

/** Shows a new key, which the server does not send again. */
function showOnce(context: Context, key: string): void {
  const { texts } = context;
  const copy = button(texts.copy, () => void context.copy(key).then(() => copy.lastChild?.replaceWith(texts.copied)), {
    iconName: "copy",
    kind: "primary",
  });
  const field = el("input", { type: "text", readonly: true, class: "code-input", "aria-label": texts.tabs.keys });
  field.value = key;
  const close = button(texts.close, () => dialog.close());
  const content = el("div", { class: "admin-once" }, el("h2", { id: "new-key-title" }, texts.keys.add), el("p", {}, texts.keys.once));
  content.append(field, el("div", { class: "actions" }, close, copy));
  const dialog = el("dialog", { id: "new-key", "aria-labelledby": "new-key-title" }, content);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function change(context: Context, key: Key, refresh: () => void): void {
  const { texts } = context;
  const left = key.expiresAt ? Math.max(1, Math.ceil((Date.parse(key.expiresAt) - Date.now()) / DAY_MS)) : "";
  openForm(context, {
    id: "key-form",
    title: key.user,
    submit: texts.save,
    fields: {
      expiresInDays: { label: texts.keys.expires, kind: "number", value: String(left) },
      admin: { label: texts.keys.admin, kind: "check", value: key.admin },
      citationLinks: { label: texts.keys.citationLinks, kind: "check", value: key.citationLinks },
    },
    onSubmit: async (values) => {
      await context.request("PUT", `/api/admin/keys/${encodeURIComponent(key.id)}`, withoutEmpty(values));
      refresh();
    },
  });
}

function revoke(context: Context, key: Key, refresh: () => void): void {
  const { texts } = context;
  context.confirm(texts.keys.revokeTitle(key.user), texts.keys.revokeText, texts.keys.revoke, async () => {
    await context.request("DELETE", `/api/admin/keys/${encodeURIComponent(key.id)}`);
    refresh();
  });
}
