// Questions that may follow an answer: its model suggests them, and a click sends one.

import { request } from "../api/client.ts";
import { button, byId, el } from "../view/dom.ts";
import { texts } from "./texts.ts";

/** The most questions, and the most characters of each. */
const MAX = { questions: 3, characters: 120 };

/** The end of the answer that the model gets, in characters. */
const MAX_ANSWER = 6000;

/** An answer whose reader may have further questions. */
export interface Answered {
  question: string;
  answer: string;
  /** Its id. */
  messageId: string | null;
  /** The name of its model. */
  model: string;
  /** Whether it is still the last one on the page. */
  isLast: () => boolean;
  onSend: (text: string) => void;
}

/** Shows questions below an answer; without any if the model fails. */
export async function showFollowUps({ question, answer, messageId, model, isLast, onSend }: Answered): Promise<void> {
  // The server counts a message of this form as no answer.
  const content = `### Task:\n${texts.followUps.task}\n<chat_history>\nUSER: ${question}\nASSISTANT: ${answer.slice(-MAX_ANSWER)}\n</chat_history>`;
  const body = { model, messages: [{ role: "user", content }], tool_choice: "none", reasoning_effort: "none", max_completion_tokens: 300 };
  const reply = await request<{ choices: { message: { content: string | null } }[] }>("POST", "/v1/chat/completions", body).catch(() => null);
  const questions = readQuestions(reply?.choices[0]?.message.content ?? "");
  if (questions.length === 0 || !isLast()) return;
  const choices = questions.map((text) => button(text, () => onSend(text), { kind: "example" }));
  byId("messages").append(el("div", { class: "follow-ups", role: "group", "data-after": messageId, "aria-label": texts.followUps.label }, choices));
}

/** The questions of a reply: its first lines that are questions, without numbers, bullets and quotation marks. */
export function readQuestions(reply: string): string[] {
  const lines = reply.split("\n").map((line) => line.replace(/^\s*(\d+[.)]\s|\d+、|[-*•])?[\s*“"「]*|[\s*”"」]+$/gu, ""));
  return lines.filter((line) => /[?？]$/u.test(line) && line.length <= MAX.characters).slice(0, MAX.questions);
}
