// API keys: list, create, change and revoke.

import { request } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { Button, CopyButton } from "../view/controls.tsx";
import { showModal } from "../view/dialog.ts";
import { openForm, withoutEmpty, type Field } from "./form.tsx";
import { confirm, Loaded, RowAction, Table, timeText, usePages } from "./list.tsx";
import { texts } from "./texts.ts";

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

const pathOf = ({ id }: Key) => `${PATH}/${encodeURIComponent(id)}`;

/** The panel of keys. */
export function KeysPanel() {
  const pages = usePages<Key>("keys", PATH);
  const refresh = () => void pages.refresh();
  const row = (key: Key) => {
    const notes = [...(key.admin ? [texts.keys.admin] : []), ...key.groups];
    const states: Record<string, string> = texts.keys.states;
    const actions = (
      <div class="row">
        <RowAction label={texts.edit} name={key.user} run={() => change(key, refresh)} />
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
  const head = <Button icon="key" onClick={() => create(refresh)}>{texts.keys.add}</Button>;
  return <Loaded pages={pages} head={head}>{(keys) => <Table label={texts.tabs.keys} columns={texts.keys.columns} rows={keys.map(row)} />}</Loaded>;
}

/** The fields of every key. */
const fieldsOf = (days: number | undefined, key?: Key): Record<string, Field> => ({
  expiresInDays: { label: texts.keys.expires, kind: "number", value: days },
  groups: { label: texts.keys.groups, kind: "names", value: key?.groups },
  admin: { label: texts.keys.admin, kind: "check", value: key?.admin ?? false },
  citationLinks: { label: texts.keys.citationLinks, kind: "check", value: key?.citationLinks ?? false },
});

function create(refresh: () => void): void {
  openForm({
    id: "key-form",
    title: texts.keys.add,
    fields: { user: { label: texts.keys.user, kind: "text", value: "", required: true }, ...fieldsOf(90) },
    onSubmit: async (values) => {
      const { key = "" } = await request<Key>("POST", PATH, withoutEmpty(values));
      refresh();
      showOnce(key);
    },
  });
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

function change(key: Key, refresh: () => void): void {
  const left = key.expiresAt ? Math.max(1, Math.ceil((Date.parse(key.expiresAt) - Date.now()) / DAY_MS)) : undefined;
  openForm({
    id: "key-form",
    title: key.user,
    fields: fieldsOf(left, key),
    onSubmit: async (values) => {
      await request("PUT", pathOf(key), withoutEmpty(values));
      refresh();
    },
  });
}

function revoke(key: Key, refresh: () => void): void {
  confirm(texts.keys.revokeTitle(key.user), texts.keys.revokeText, texts.keys.revoke, async () => {
    await request("DELETE", pathOf(key));
    refresh();
  });
}
