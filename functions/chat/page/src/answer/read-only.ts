// Stored messages without controls: a shared copy, and what is printed.

import type { Message } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { el } from "../view/dom.ts";
import { AnswerParts } from "./parts.ts";
import { References } from "./references.ts";
import { Sources } from "./sources.ts";

/** Shows the messages of a conversation with their citations and sources, without reasoning and tool calls. */
export function showMessages(root: HTMLElement, messages: Message[]): void {
  const references = new References();
  for (const message of messages) {
    root.append(message.role === "user" ? questionElement(message) : answerElement(message, references));
  }
}

function questionElement({ content = "" }: Message): HTMLElement {
  return el("article", { class: "turn user" }, el("h2", { class: "offscreen" }, t.chat.you), el("p", { class: "bubble", dir: "auto" }, content));
}

function answerElement(message: Message, references: References): HTMLElement {
  const sources = new Sources(references);
  const parts = new AnswerParts({
    cite: (number) => sources.numbered(number),
    hasSources: () => sources.any,
    hasDocuments: () => false,
    onCall: () => {},
  });
  sources.add(message.sources);
  parts.setStored({ ...message, thinking: "", toolCalls: [] });
  parts.finish();
  sources.show();
  return el("article", { class: "turn answer" }, el("h2", { class: "offscreen" }, t.chat.answer), parts.element, sources.element);
}
