// API keys: list, create, change and revoke.

import { request } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { Button, CopyButton } from "../view/controls.tsx";
import { showModal } from "../view/dialog.ts";
import { store, withoutEmpty, type Field, type ItemForm, type Values } from "./form.tsx";
import { confirm, FormLink, Loaded, RowAction, Table, timeText, usePages } from "./list.tsx";
import { texts } from "./texts.ts";
import { hrefOf, NEW } from "./view.ts";

interface Key {
  id: string;
  user: string;
  admin: boolean;
  citationLinks: boolean;
  groups: string[];
  state: string;
  createdAt: string;
  expiresAt?: string | null;
  /** Only in the response to its creation. */
  key?: string;
}

const DAY_MS = 86_400_000;
const PATH = "/api/admin/keys";

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** The panel of keys. */
export function KeysPanel() {
  const pages = usePages<Key>("keys", PATH);
  const refresh = () => void pages.refresh();
  const row = (key: Key) => {
    const notes = [...(key.admin ? [texts.keys.admin] : []), ...key.groups];
    const states: Record<string, string> = texts.keys.states;
    const actions = (
      <div class="row">
        <FormLink label={texts.edit} name={key.user} href={hrefOf("keys", key.id)} />
        <RowAction label={texts.keys.revoke} name={key.user} kind="text risky" run={() => revoke(key, refresh)} />
      </div>
    );
    return [
      <span>{key.user}<span class="dim">{notes.map((note) => ` · ${note}`)}</span></span>,
      Object.hasOwn(states, key.state) ? states[key.state] : key.state,
      timeText(key.createdAt),
      timeText(key.expiresAt) || texts.keys.never,
      key.state === "revoked" ? <div class="row" /> : actions,
    ];
  };
  const head = <FormLink icon="key" label={texts.keys.add} href={hrefOf("keys", NEW)} />;
  return <Loaded pages={pages} head={head}>{(keys) => <Table label={texts.tabs.keys} columns={texts.keys.columns} rows={keys.map(row)} />}</Loaded>;
}

/** The fields of every key. */
const fieldsOf = (days: number | undefined, key?: Key): Record<string, Field> => ({
  expiresInDays: { label: texts.keys.expires, kind: "number", value: days },
  groups: { label: texts.keys.groups, kind: "names", value: key?.groups },
  admin: { label: texts.keys.admin, kind: "check", value: key?.admin ?? false },
  citationLinks: { label: texts.keys.citationLinks, kind: "check", value: key?.citationLinks ?? false },
});

/** The form of a key. */
export async function keyForm(id: string | null): Promise<ItemForm> {
  const user: Field = { label: texts.keys.user, kind: "text", value: "", required: true };
  if (id === null) return { id: "key-form", title: texts.keys.add, groups: { "": { user, ...fieldsOf(90) } }, save: create };
  const key = await request<Key>("GET", pathOf(id));
  const left = key.expiresAt ? Math.max(1, Math.ceil((Date.parse(key.expiresAt) - Date.now()) / DAY_MS)) : undefined;
  const save = (values: Values) => store(PATH, id, withoutEmpty(values));
  return { id: "key-form", title: key.user, groups: { "": fieldsOf(left, key) }, save };
}

async function create(values: Values): Promise<void> {
  const { key = "" } = await request<Key>("POST", PATH, withoutEmpty(values));
  showOnce(key);
}

/** Shows a new key, which the server does not send again. */
function showOnce(key: string): void {
  showModal({ id: "new-key", "aria-labelledby": "new-key-title" }, (close) => (
    <div class="admin-once">
      <h2 id="new-key-title">{texts.keys.add}</h2>
      <p>{texts.keys.once}</p>
      <input type="text" readOnly class="code-input" aria-label={texts.tabs.keys} value={key} />
      <div class="actions">
        <Button onClick={close}>{t.close}</Button>
        <CopyButton kind="primary" text={key} />
      </div>
    </div>
  ));
}

function revoke(key: Key, refresh: () => void): void {
  confirm(texts.keys.revokeTitle(key.user), texts.keys.revokeText, texts.keys.revoke, async () => {
    await request("DELETE", pathOf(key.id));
    refresh();
  });
}
