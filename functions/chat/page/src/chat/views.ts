// Makes the views of messages, and finds those that are on the page already.

import { AnswerView, type AnswerOptions } from "../answer/answer.ts";
import { References } from "../answer/references.ts";
import { rateMessage } from "../api/client.ts";
import type { Message } from "../api/types.ts";
import { openId } from "../state/open.ts";
import { isCurrent, type MessageView, type ViewOf } from "./branch.ts";
import { QuestionView, type Question, type QuestionActions } from "./question.ts";
import type { Turn } from "./turn.ts";

/** What the buttons of all messages do. */
export interface MessageActions extends Omit<AnswerOptions, "references" | "onRate" | Common>, Omit<QuestionActions, Common> {
  onDelete: (view: MessageView) => void;
  onSelect: (view: MessageView, messageId: string) => void;
}

type Common = "onDelete" | "onSelect";

/** What is on the page when stored messages are shown. */
interface Shown {
  /** The running turn, whose view stays. */
  turn: Turn | null;
  /** The view of an interrupted answer, which stays if the stored answer is shorter. */
  keep: AnswerView | null;
}

/** The views of one conversation's messages. */
export class MessageViews {
  /** What the answers of the conversation can refer to. */
  references = new References();
  #actions: MessageActions;

  constructor(actions: MessageActions) {
    this.#actions = actions;
  }

  /** An empty answer. */
  answer(): AnswerView {
    // Another conversation may be open when the reason of a rating is sent; a new one has no id yet.
    const id = openId.value;
    const onRate: AnswerOptions["onRate"] = ({ messageId }, feedback) => rateMessage(id ?? openId.value ?? "", messageId ?? "", feedback);
    return new AnswerView({ ...this.#actions, onRate, references: this.references });
  }

  /** A message of the user. */
  question(message: Question): QuestionView {
    for (const { name } of message.attachments ?? []) this.references.files.add(name);
    return new QuestionView(message, this.#actions);
  }

  /** Views of stored messages: those on the page where they show the same, or a longer text than the stored one. */
  of(shown: Shown): ViewOf {
    return (message, known) => {
      const question = () => (known instanceof QuestionView ? known : this.question(message));
      const view = message.role === "user" ? question() : this.#answerOf(message, known, shown);
      view.showPosition(message);
      return view;
    };
  }

  #answerOf(message: Message, known: MessageView | null, { turn, keep }: Shown): AnswerView {
    if (turn?.messageId === message.id) return turn.view;
    if (isCurrent(known, message)) return known;
    const view = this.answer();
    const running = view.showStored(message);
    if (running || keep?.messageId !== message.id || keep.text.length <= view.text.length) return view;
    keep.showUnsaved(message);
    return keep;
  }
}

/** Shows a new message as the last version of the one that it replaces. */
export function addVersion(view: MessageView, old: MessageView): void {
  const { ids } = old.versions;
  const known = ids.length > 0 ? ids.map((id, at) => (at === old.versions.at ? old.messageId : id)) : [old.messageId];
  view.parentId = old.parentId;
  view.versions.show([...known, null], known.length);
}
