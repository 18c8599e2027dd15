// Stored messages without controls: a shared copy, and what is printed.

import { AnswerParts } from "../answer/parts.ts";
import { References } from "../answer/references.ts";
import { Sources } from "../answer/sources.ts";
import type { Attachment, Message } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { el } from "../view/dom.ts";
import { texts } from "./texts.ts";

/** A message, of whose files only the names may be known. */
export type StoredMessage = Omit<Message, "attachments"> & { attachments?: Pick<Attachment, "name">[] };

/** Shows the messages of a conversation with their citations and sources, without reasoning and tool calls. */
export function showMessages(root: HTMLElement, messages: StoredMessage[]): void {
  const references = new References();
  for (const message of messages) {
    root.append(message.role === "user" ? questionElement(message) : answerElement(message, references));
  }
}

function questionElement({ content = "", attachments = [] }: StoredMessage): HTMLElement {
  const names = attachments.map(({ name }) => name);
  const attached = names.length > 0 ? el("p", { class: "hint attached" }, texts.shared.attachments(names)) : [];
  return el("article", { class: "turn user" }, el("h2", { class: "offscreen" }, t.chat.you), el("p", { class: "bubble", dir: "auto" }, content), attached);
}

function answerElement({ attachments: _, ...message }: StoredMessage, references: References): HTMLElement {
  const sources = new Sources(references);
  const parts = new AnswerParts({
    cite: (number) => sources.numbered(number),
    hasSources: () => sources.any,
    isDocument: () => false,
    onCall: () => {},
  });
  sources.add(message.sources);
  parts.setStored({ ...message, thinking: "", toolCalls: [] });
  parts.finish(message.finishReason !== "stop");
  sources.show();
  // Only the owner can open a file.
  for (const link of [parts.element, sources.element].flatMap((part) => [...part.querySelectorAll('a[href^="attachment:"]')])) link.removeAttribute("href");
  return el("article", { class: "turn answer" }, el("h2", { class: "offscreen" }, t.chat.answer), parts.element, sources.element);
}
