// Deletes a message with everything after it, after a confirmation that names how much that is.

import { deleteMessage } from "../api/client.ts";
import { t } from "../i18n/index.ts";
import { openDialog } from "../view/dialog.ts";
import { el } from "../view/dom.ts";
import { ignoreNotFound } from "../view/failures.ts";
import type { MessageView } from "./branch.ts";
import { QuestionView } from "./question.ts";

/** Deletes the first of these messages, which goes with the others. Resolves to whether it is deleted. */
export async function confirmDeletion(conversationId: string, [first, ...after]: readonly MessageView[]): Promise<boolean> {
  const messageId = first?.messageId;
  if (!first || !messageId) return false;
  const text = t.remove.text({
    question: first instanceof QuestionView,
    after: after.length,
    others: after.some(({ versions }) => versions.ids.length > 0),
    stays: first.versions.ids.length > 0,
  });
  const onSubmit = () => deleteMessage(conversationId, messageId).catch(ignoreNotFound);
  const submit = { label: t.list.delete, kind: "danger" } as const;
  const spec = { id: "delete-message-dialog", title: t.remove.title, body: [el("p", {}, text)], submit, onSubmit };
  return (await openDialog(spec)) !== null;
}
