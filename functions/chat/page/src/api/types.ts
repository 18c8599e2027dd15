// What the server sends, by schema.ts, and what the page keeps of it, which lacks fields until they arrive.

import type * as api from "./schema.ts";

export type { AgentSummary as Agent, Attachment, Erasure, Execution, Model, Rating, Share, Source, StartEvent, StoredFile, Upload, Usage, UsageRow } from "./schema.ts";

/** A type of which only these fields are always there. */
type With<T, Required extends keyof T> = Pick<T, Required> & Partial<T>;

/** An error of the server or of the page. */
type Failure = { code: string; message: string };

/** Also a new conversation, and one that a search has found. */
export type Conversation = With<api.FoundConversation, "id" | "title" | "updatedAt">;

/** Which conversations a list has; without `archived` it has none that are archived. */
export interface Filter {
  q?: string;
  archived?: true;
  pinned?: true;
}

/** A call; one that runs has no outcome yet. */
export type ToolCall = Omit<With<api.StoredCall, "id" | "name" | "arguments">, "error"> & { error?: Failure };

/** What the user thinks of an answer. */
export type Feedback = With<NonNullable<api.Message["feedback"]>, "rating">;

/** Also a message that is written or read. */
export type Message = Omit<
  With<api.Message, "id" | "role" | "model" | "status" | "createdAt">,
  "error" | "feedback" | "finishReason" | "toolCalls"
> & { error?: Failure; feedback?: Feedback | null; finishReason?: string; toolCalls?: ToolCall[] };

export type ToolResult = With<api.ToolResultEvent, "id" | "ok">;

/** The event that ends a failed turn. */
export type ErrorEvent = Omit<With<api.ErrorEvent, "type" | "message" | "retryable">, "code"> & { code: string };

/** An event of a running turn. */
export type TurnEvent = Exclude<api.Event, api.AccumulatedEvent | api.ErrorEvent> | ErrorEvent;
