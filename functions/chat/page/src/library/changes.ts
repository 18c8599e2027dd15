// The dialogs to rename a conversation, and to delete one, or a message with everything after it.

import { scalarCount } from "../answer/strings.ts";
import { ApiError, changeConversation, request } from "../api/client.ts";
import type { Conversation } from "../api/types.ts";
import type { MessageView } from "../chat/branch.ts";
import { QuestionView } from "../chat/question.ts";
import { t } from "../i18n/index.ts";
import { recordChanged } from "../list/actions.ts";
import { recordDeletion } from "../state/lists.ts";
import { openDialog } from "../view/dialog.ts";
import { byId, el } from "../view/dom.ts";
import { texts } from "./texts.ts";

const MAX_TITLE_CHARS = 200;

/** Changes the title of a conversation. */
export async function renameConversation({ id, title }: Conversation): Promise<void> {
  let renamed: Conversation | null = null;
  await openDialog({
    id: "rename-dialog",
    title: texts.list.renameTitle,
    field: { label: texts.list.title, value: title },
    submit: { label: t.list.rename },
    onSubmit: async (value) => {
      const length = scalarCount(value);
      if (length < 1 || length > MAX_TITLE_CHARS) throw new Error(texts.list.titleLength(MAX_TITLE_CHARS));
      renamed = await changeConversation(id, { title: value });
    },
  });
  // The closed dialog has given the focus back to the row, which may be replaced now.
  if (renamed) recordChanged(renamed);
}

/** Deletes a conversation after a confirmation. */
export async function removeConversation({ id, title }: Pick<Conversation, "id" | "title">): Promise<void> {
  const confirmed = await openDialog({
    id: "delete-dialog",
    title: texts.list.deleteTitle,
    body: [el("p", { dir: "auto" }, texts.list.deleteText(title || t.untitled))],
    submit: { label: t.list.delete, kind: "danger" },
    onSubmit: () => request("DELETE", `/api/conversations/${id}`).catch(ignoreNotFound),
  });
  if (confirmed === null) return;
  recordDeletion(id);
  byId("new-chat").focus();
}

/** Deletes the first of these messages, which goes with the others. Resolves to whether it is deleted. */
export async function confirmDeletion(conversationId: string, [first, ...after]: readonly MessageView[]): Promise<boolean> {
  const messageId = first?.messageId;
  if (!first || !messageId) return false;
  const text = texts.remove.text({
    question: first instanceof QuestionView,
    after: after.length,
    others: after.some(({ versions }) => versions.ids.length > 0),
    stays: first.versions.ids.length > 0,
  });
  const onSubmit = () => request("DELETE", `/api/conversations/${conversationId}/messages/${messageId}`).catch(ignoreNotFound);
  const submit = { label: t.list.delete, kind: "danger" } as const;
  const spec = { id: "delete-message-dialog", title: texts.remove.title, body: [el("p", {}, text)], submit, onSubmit };
  return (await openDialog(spec)) !== null;
}

/** Treats what is gone already as deleted. */
function ignoreNotFound(error: unknown): void {
  if (ApiError.from(error).status !== 404) throw error;
}
