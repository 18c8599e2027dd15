// What a user does with a conversation: its title, its pin, the archive, its deletion, and what the library offers.

import { scalarCount } from "../answer/strings.ts";
import { changeConversation, deleteConversation } from "../api/client.ts";
import type { Conversation } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { openExport, openShare } from "../parts/use.ts";
import { find, recordDeletion, updateList } from "../state/lists.ts";
import { notifyTabs } from "../state/tabs.ts";
import type { Action } from "../view/action-menu.tsx";
import { openDialog } from "../view/dialog.ts";
import { announce, byId, el } from "../view/dom.ts";
import { ignoreNotFound } from "../view/failures.ts";
import { showError } from "../view/toast.ts";

const MAX_TITLE_CHARS = 200;

/** What the user can do with a conversation. */
export function actionsOf(id: string | null): Action[] {
  const conversation = id === null ? undefined : find(id);
  if (!conversation) return [];
  const { pinned = false, archived = false } = conversation;
  return [
    { label: t.list.rename, iconName: "pencil", run: () => void rename(conversation) },
    { label: pinned ? t.list.unpin : t.list.pin, iconName: "pin", run: () => void change(conversation, { pinned: !pinned }) },
    { label: t.list.share, iconName: "share", run: () => openShare(conversation) },
    { label: t.list.export, iconName: "down", run: () => openExport(conversation) },
    { label: archived ? t.list.restore : t.list.archive, iconName: "archive", run: () => void change(conversation, { archived: !archived }) },
    { label: t.list.delete, iconName: "trash", run: () => void remove(conversation) },
  ];
}

async function rename({ id, title }: Conversation): Promise<void> {
  let renamed: Conversation | null = null;
  await openDialog({
    id: "rename-dialog",
    title: t.list.renameTitle,
    field: { label: t.list.title, value: title },
    submit: { label: t.list.rename },
    onSubmit: async (value) => {
      const length = scalarCount(value);
      if (length < 1 || length > MAX_TITLE_CHARS) throw new Error(t.list.titleLength(MAX_TITLE_CHARS));
      renamed = await changeConversation(id, { title: value });
    },
  });
  // The closed dialog has given the focus back to the row, which may be replaced now.
  if (renamed) recordChanged(renamed);
}

async function change({ id }: Conversation, changes: { pinned?: boolean; archived?: boolean }): Promise<void> {
  try {
    recordChanged({ ...(await changeConversation(id, changes)), ...changes });
  } catch (error) {
    return showError(error);
  }
  if (changes.archived !== undefined) announce(changes.archived ? t.list.archived : t.list.restored);
}

function recordChanged(conversation: Conversation): void {
  updateList(conversation);
  notifyTabs(null);
}

/** Deletes a conversation after a confirmation. */
export async function remove({ id, title }: Pick<Conversation, "id" | "title">): Promise<void> {
  const confirmed = await openDialog({
    id: "delete-dialog",
    title: t.list.deleteTitle,
    body: [el("p", { dir: "auto" }, t.list.deleteText(title || t.untitled))],
    submit: { label: t.list.delete, kind: "danger" },
    onSubmit: () => deleteConversation(id).catch(ignoreNotFound),
  });
  if (confirmed === null) return;
  recordDeletion(id);
  byId("new-chat").focus();
}
