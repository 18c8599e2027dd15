// Questions below a complete answer, for agents that want them.

import { showFollowUps } from "../parts/use.ts";
import { model, wantsFollowUps } from "../state/choice.ts";
import type { Branch } from "./branch.ts";
import { QuestionView } from "./question.ts";
import type { Turn } from "./turn.ts";

/** Shows questions below the answer of a turn, if it is the last one of the branch; `isBusy` returns whether another turn runs. */
export function offerFollowUps(branch: Branch, { view, finished }: Turn, isBusy: () => boolean, onSend: (text: string) => void): void {
  const isLast = () => branch.views.at(-1) === view && !isBusy();
  const question = branch.views.at(-2);
  if (!wantsFollowUps() || !finished || !isLast() || !(question instanceof QuestionView)) return;
  showFollowUps({ question: question.text, answer: view.text, messageId: view.messageId, model: model.value, isLast, onSend });
}
