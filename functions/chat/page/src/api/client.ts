// The client of the HTTP API: conversations, messages and turns.

import { bodyOf, readEvents, type OnEvent } from "./events.ts";
import { fetchWithKey, request, toApiError } from "./transport.ts";
import type { Agent, Conversation, Feedback, Filter, Message, Model } from "./types.ts";

export { readEvents } from "./events.ts";
export { ApiError, onReachable, parseRetryAfter, request, requestText, tryAgain } from "./transport.ts";

/** The options of a streamed request. */
export interface StreamOptions {
  idempotencyKey: string;
  signal: AbortSignal;
  onEvent: OnEvent;
  /** Whether the page may leave for a silent sign-in, because it repeats the request when it is back. */
  mayLeave?: boolean;
}

/** Lists one page of the caller's conversations. */
export function listConversations(
  cursor: string | null = null,
  filter: Filter = {},
): Promise<{ conversations: Conversation[]; nextCursor: string | null }> {
  return request("GET", `/api/conversations?${query({ limit: cursor === null ? 30 : 100, cursor, ...filter })}`);
}

/** Messages of a branch, oldest first; the cursor leads to earlier ones. */
export interface MessagePage {
  conversation: Conversation;
  messages: Message[];
  nextCursor: string | null;
}

/** Reads a conversation and its last messages, or those before a cursor: of the shown branch, or of that through `branch`. */
export function readConversation(
  id: string,
  { branch = null, cursor = null }: { branch?: string | null; cursor?: string | null } = {},
): Promise<MessagePage> {
  return request("GET", `${conversationPath(id)}?${query({ from: "end", limit: 40, branch, cursor })}`);
}

/** Selects the branch through a message, which is then shown everywhere. */
export function selectBranch(id: string, messageId: string): Promise<{ conversation: Conversation }> {
  return request("PUT", `${conversationPath(id)}/branch`, { messageId });
}

/** Stores what the user thinks of an answer; null withdraws it. */
export function rateMessage(id: string, messageId: string, feedback: Feedback | null): Promise<null> {
  const path = `${conversationPath(id)}/messages/${encodeURIComponent(messageId)}/feedback`;
  return feedback ? request("PUT", path, feedback) : request("DELETE", path);
}

const conversationPath = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;

/** Changes the title of a conversation, pins it or archives it. */
export async function changeConversation(
  id: string,
  changes: Partial<Pick<Conversation, "title" | "pinned" | "archived">>,
): Promise<Conversation> {
  return (await request<{ conversation: Conversation }>("PATCH", conversationPath(id), changes)).conversation;
}

/** Lists the agents. */
export function listAgents(): Promise<{ agents: Agent[] }> {
  return request("GET", "/api/agents");
}

/** Lists the models; `attachments` is whether messages can have files. */
export function listModels(): Promise<{ models: Model[]; attachments?: boolean }> {
  return request("GET", "/api/models");
}

/** Requests the server to stop the running turn of a conversation. Resolves to whether there is one. */
export async function stopTurn(id: string): Promise<boolean> {
  return (await request<{ stopping: boolean }>("POST", `${conversationPath(id)}/stop`)).stopping;
}

/**
 * Sends a message and calls `onEvent` with each event of the answer and the id of its frame.
 *
 * Resolves to whether the stream ended with a `done` or an `error` event. Throws an `ApiError` when the server rejects
 * the message or cannot be reached, and an `AbortError` when `signal` fires.
 */
export function chat(message: object, options: StreamOptions): Promise<boolean> {
  return startTurn("/api/chat", message, options);
}

/** What a turn does with an answer: writes another version of it, or continues it. */
export type AnswerAction = "regenerate" | "continue";

/** Begins a turn with an answer of a conversation; otherwise like `chat`. */
export function actOnAnswer(id: string, action: AnswerAction, choice: object, options: StreamOptions): Promise<boolean> {
  return startTurn(`${conversationPath(id)}/${action}`, choice, options);
}

/** Reads the running turn of a conversation after the frame `lastId`, or from its start; null if there is no stream. */
export async function resume(
  id: string,
  lastId: string | null,
  { signal, onEvent }: { signal: AbortSignal; onEvent: OnEvent },
): Promise<boolean | null> {
  const headers: Record<string, string> = lastId === null ? {} : { "last-event-id": lastId };
  const path = `${conversationPath(id)}/stream`;
  const response = await fetchWithKey(path, { method: "GET", headers, signal });
  if (response.status === 204) return null;
  if (!response.ok) throw await toApiError(response);
  return readEvents(bodyOf(response).getReader(), onEvent, signal, undefined, id);
}

async function startTurn(
  path: string,
  body: object,
  { idempotencyKey, signal, onEvent, mayLeave = false }: StreamOptions,
): Promise<boolean> {
  const headers = { "content-type": "application/json", "idempotency-key": idempotencyKey };
  const response = await fetchWithKey(path, { method: "POST", headers, body: JSON.stringify(body), signal, mayLeave });
  if (!response.ok) throw await toApiError(response);
  return readEvents(bodyOf(response).getReader(), onEvent, signal);
}

function query(values: Record<string, string | number | boolean | null>): URLSearchParams {
  const present = Object.entries(values).filter(([, value]) => value !== null);
  return new URLSearchParams(present.map(([name, value]) => [name, String(value)]));
}
