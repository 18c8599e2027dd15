// The turns of this page: one in the open conversation, and those of others that continue meanwhile.

import { ApiError } from "../api/client.ts";
import { notifyEnd } from "../parts/use.ts";
import { marks, setMark } from "../state/lists.ts";
import { showError } from "../view/toast.ts";
import type { Turn, TurnEnd } from "./turn.ts";

/** What `run` calls. */
export interface RunListeners {
  onStart: () => void;
  onEnd: (end: TurnEnd) => void;
  /** The turn never started. */
  onRejected: (error: ApiError) => void;
}

/** What all turns call. */
export interface TurnsListeners {
  /** Whether an answer is being written in the open conversation. */
  onBusy: (busy: boolean) => void;
  onTitle: (id: string, title: string) => void;
  /** A turn has ended. */
  onEnded: (turn: Turn) => void;
}

/** The running turns. */
export class Turns {
  /** The turn of the open conversation, or null. */
  current: Turn | null = null;
  #running = new Map<string | null, Turn>();
  #listeners: TurnsListeners;

  constructor(listeners: TurnsListeners) {
    this.#listeners = listeners;
  }

  /** Makes the turn of the conversation that opens the current one. */
  open(id: string | null): Turn | null {
    this.current = this.#running.get(id) ?? null;
    if (marks.peek().get(id) === "unread") setMark(id);
    return this.current;
  }

  /** Notes that a turn runs in its conversation. */
  add(turn: Turn): void {
    this.#running.set(turn.conversationId, turn);
    setMark(turn.conversationId, "running");
  }

  /** Stops the current turn. */
  stop(): void {
    this.current?.stop().catch(showError);
  }

  /** Runs a turn to its end; calls `onRejected` with the error if it never started. */
  async run(turn: Turn, { onStart, onEnd, onRejected }: RunListeners): Promise<void> {
    const { onBusy, onTitle, onEnded } = this.#listeners;
    this.current = turn;
    onBusy(true);
    try {
      const end = await turn.run({ onStart, onTitle: (title) => onTitle(turn.conversationId ?? "", title) });
      this.#finish(turn, end);
      onEnded(turn);
      onEnd(end);
    } catch (error) {
      this.#finish(turn);
      onRejected(ApiError.from(error));
    }
  }

  #finish(turn: Turn, end?: TurnEnd): void {
    if (document.hidden) {
      markTitle();
      notifyEnd(turn.conversationId);
    }
    if (this.#running.get(turn.conversationId) === turn) {
      this.#running.delete(turn.conversationId);
      setMark(turn.conversationId, this.current === turn || end !== "complete" ? undefined : "unread");
    }
    if (this.current !== turn) return;
    this.current = null;
    this.#listeners.onBusy(false);
  }
}

/** Marks the title of a page that is not visible until it is: an answer has ended. */
function markTitle(): void {
  const mark = "● ";
  if (document.title.startsWith(mark)) return;
  document.title = `${mark}${document.title}`;
  const unmark = () => {
    document.title = document.title.replace(mark, "");
  };
  document.addEventListener("visibilitychange", unmark, { once: true });
}
