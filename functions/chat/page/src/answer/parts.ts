// What an answer consists of, in the order in which it happened: reasoning, text, tool calls, text.

import type { Message, ToolCall, ToolResult } from "../api/types.ts";
import { el } from "../view/dom.ts";
import { GrowingText, type Citations } from "./growing-text.ts";
import { foldRows, Steps } from "./steps.ts";
import { sourcesByCall } from "./stored-sources.ts";
import { StoredTexts, type Texts } from "./stored-texts.ts";
import { Thinking } from "./thinking.ts";

/** The texts of an answer that a reader takes along: their Markdown, and their elements. */
export interface Excerpt {
  text: string;
  elements: HTMLElement[];
}

/** The fewest rows before a text that become one. */
const MIN_FOLDED = 3;

/** The parts of one answer. */
export class AnswerParts {
  element = el("div", { class: "parts" });
  #citations: Citations;
  #texts: GrowingText[] = [];
  #steps: Steps[] = [];
  /** The reasoning and the text of the current round; a call ends the round. */
  #thinking: Thinking | null = null;
  #text: GrowingText | null = null;
  #group: Steps | null = null;

  constructor(citations: Citations) {
    this.#citations = citations;
  }

  /** All text, with a blank line between parts. */
  get text(): string {
    return joined(this.#texts);
  }

  /** The answer without what was written before the last call; all text if nothing was written after it. */
  get excerpt(): Excerpt {
    const last = this.#steps.at(-1)?.element;
    const after = this.#texts.filter(({ element }) => !last || last.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
    const texts = joined(after) === "" ? this.#texts : after;
    return { text: joined(texts), elements: texts.map(({ element }) => element) };
  }

  /** Whether a call is still running. */
  get running(): boolean {
    return this.#steps.some((steps) => steps.running);
  }

  /** Whether there is a tool call. */
  get hasSteps(): boolean {
    return this.#steps.length > 0;
  }

  /** Adds text. */
  appendText(delta: string): void {
    this.#thinking?.pause();
    if (this.#text === null && delta.trim() === "") return;
    if (this.#text === null) {
      this.#text = new GrowingText(el("div", { class: "prose" }), this.#citations);
      this.#texts.push(this.#text);
      this.#group = null;
      this.element.append(this.#text.element);
      this.#foldRows(this.#text.element);
    }
    this.#text.push(delta);
    this.#mark(this.#text.element);
  }

  /** Adds reasoning, which is shown before the text of its round. */
  appendThinking(delta: string): void {
    (this.#thinking ?? this.#addThinking()).push(delta);
  }

  #addThinking(): Thinking {
    const thinking = new Thinking();
    this.#thinking = thinking;
    this.#group = null;
    if (this.#text) {
      this.#text.element.before(thinking.element);
      this.#foldRows(this.#text.element);
    } else this.element.append(thinking.element);
    return thinking;
  }

  /** Shows many rows of reasoning and calls before a text as one, unless the reader is in them. */
  #foldRows(text: HTMLElement): void {
    const before: Element[] = [];
    for (let row = text.previousElementSibling; row && !row.matches(".prose"); row = row.previousElementSibling) before.unshift(row);
    const rows = before.flatMap((row) => (row.matches(".rounds") ? [...row.children].slice(1) : [row]));
    if (rows.length < MIN_FOLDED || before.some((row) => row.matches("[open], :focus-within"))) return;
    text.before(foldRows(rows, this.#steps.filter(({ element }) => rows.includes(element))));
    for (const row of before) if (row.matches(".rounds")) row.remove();
  }

  /** Moves the last `characters` code points of the text to the reasoning: the model had begun to think before it wrote. */
  takeBackText(characters: number): void {
    if (this.#text === null) return;
    const shown = Array.from(this.#text.text);
    const start = Math.max(0, shown.length - characters);
    this.#text.element.remove();
    this.#texts.pop();
    this.#text = null;
    this.appendThinking(shown.slice(start).join(""));
    this.appendText(shown.slice(0, start).join(""));
  }

  /** Adds a call and returns its label. Later text begins a new part. */
  call(call: ToolCall): string {
    const known = this.#steps.find((steps) => steps.has(call.id));
    if (known) return known.call(call);
    this.#citations.onCall(call);
    this.#endRound();
    if (this.#group === null) {
      this.#group = new Steps();
      this.#steps.push(this.#group);
      this.element.append(this.#group.element);
    }
    return this.#group.call(call);
  }

  /** Shows the progress of a call. */
  progress(progress: { id: string; text: string }): void {
    for (const steps of this.#steps) steps.progress(progress);
  }

  /** Shows the result of a call and returns its text. */
  result(result: ToolResult): string {
    return this.#steps.find((steps) => steps.has(result.id))?.result(result) ?? "";
  }

  /** Shows a stored message from its beginning. */
  setStored(message: Message): void {
    this.element.replaceChildren();
    [this.#texts, this.#steps] = [[], []];
    [this.#thinking, this.#text, this.#group] = [null, null, null];
    const rest = new StoredTexts(message);
    const sources = sourcesByCall(message);
    for (const call of message.toolCalls ?? []) {
      this.#showTexts(rest.before(call));
      this.call(call);
      if (typeof call.ok === "boolean") this.result({ ...call, ok: call.ok, sources: sources.get(call.id) ?? [] });
    }
    this.#showTexts(rest.remaining());
    this.render();
  }

  #showTexts({ thinking, thinkingMs, text }: Texts): void {
    if (thinking !== "") this.#addThinking().set(thinking, thinkingMs);
    this.appendText(text);
  }

  /** Shows what was added since the last call. */
  render(): void {
    this.#text?.render();
    this.#thinking?.render();
  }

  /** Lets the parts grow after their end. */
  reopen(): void {
    this.#thinking?.reopen();
    this.#text?.reopen();
  }

  /** Ends all parts; `cut` is whether their text has no proper end. */
  finish(cut = false): void {
    this.#thinking?.finish(cut);
    this.#text?.finish(cut);
    for (const steps of this.#steps) steps.abandon();
    this.#mark(null);
  }

  /** Removes the mark of the text that is being written. */
  pauseWriting(): void {
    this.#mark(null);
  }

  #mark(writing: HTMLElement | null): void {
    for (const { element } of this.#texts.slice(-2)) element.classList.toggle("writing", element === writing);
  }

  #endRound(): void {
    this.#thinking?.finish();
    this.#text?.finish();
    this.#mark(null);
    if (this.#text !== null || this.#thinking !== null) this.#group = null;
    [this.#thinking, this.#text] = [null, null];
  }
}

function joined(texts: GrowingText[]): string {
  return texts.map(({ text }) => text.trim()).filter(Boolean).join("\n\n");
}
