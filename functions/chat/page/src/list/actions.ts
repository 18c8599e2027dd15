// What a user does with a conversation: its title, its pin, the archive, its deletion, and what the library offers.

import { changeConversation } from "../api/client.ts";
import type { Conversation } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { openExport, openShare, removeConversation, renameConversation } from "../parts/use.ts";
import { find, updateList } from "../state/lists.ts";
import { notifyTabs } from "../state/tabs.ts";
import type { Action } from "../view/action-menu.tsx";
import { showError, showNotice } from "../view/toast.ts";

/** What the user can do with a conversation. */
export function actionsOf(id: string | null): Action[] {
  const conversation = id === null ? undefined : find(id);
  if (!conversation) return [];
  const { pinned = false, archived = false } = conversation;
  return [
    { label: t.list.rename, iconName: "pencil", run: () => renameConversation(conversation) },
    { label: pinned ? t.list.unpin : t.list.pin, iconName: "pin", run: () => void change(conversation, { pinned: !pinned }) },
    { label: t.list.share, iconName: "share", run: () => openShare(conversation) },
    { label: t.list.export, iconName: "download", run: () => openExport(conversation) },
    { label: archived ? t.list.restore : t.list.archive, iconName: "archive", run: () => void change(conversation, { archived: !archived }) },
    { label: t.list.delete, iconName: "trash", run: () => removeConversation(conversation) },
  ];
}

/** Changes a conversation; a notice undoes what takes it out of the list. */
async function change(conversation: Conversation, changes: { pinned?: boolean; archived?: boolean }, undoes = false): Promise<void> {
  const { archived } = changes;
  try {
    recordChanged({ ...(await changeConversation(conversation.id, changes)), ...changes });
  } catch (error) {
    return showError(error);
  }
  if (archived === undefined) return;
  const undo = { label: t.list.undo, run: () => void change(conversation, { archived: !archived }, true) };
  showNotice(archived ? t.list.archived : t.list.restored, undoes ? null : undo);
}

/** Shows a changed conversation, here and in other tabs. */
export function recordChanged(conversation: Conversation): void {
  updateList(conversation);
  notifyTabs(null);
}
