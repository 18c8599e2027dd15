// What the server sends, as `docs/reference/api.md` describes it.

export interface Source {
  index: number;
  title?: string;
  url: string;
  /** The beginning of what was found on the page. */
  excerpt?: string;
}

export interface Conversation {
  id: string;
  title: string;
  model?: string | null;
  messageCount?: number;
  createdAt?: string;
  updatedAt: string;
  pinned?: boolean;
  archived?: boolean;
  /** Of a temporary conversation, which is in no list: when it is deleted. */
  expiresAt?: string;
  /** In the result of a search: messages with what was found between `[[` and `]]`. */
  matches?: { messageId: string; snippet: string }[];
}

/** Which conversations a list has; without `archived` it has none that are archived. */
export interface Filter {
  q?: string;
  archived?: true;
  pinned?: true;
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: unknown;
  /** Missing while the call runs. */
  ok?: boolean;
  summary?: string;
  /** What the answer had before a stored call: characters of its text and its reasoning, and the time of the reasoning. */
  position?: { text: number; thinking: number; thinkingMs?: number };
  durationMs?: number;
  cached?: boolean;
  error?: { code: string; message: string };
}

export interface Usage {
  inputTokens: number;
  outputTokens: number;
  searchCredits: number;
  estimated: boolean;
  costMicros?: number;
}

/** What the user thinks of an answer. */
export interface Feedback {
  rating: "up" | "down";
  reason?: string | null;
}

/** A file of a message. */
export interface Attachment {
  id: string;
  name: string;
  type: string;
  bytes: number;
  kind: "image" | "text";
}

export interface Message {
  id: string;
  role: "user" | "assistant";
  /** The message before it; null for the first. */
  parentId?: string | null;
  /** All messages in its position by creation, if there are several. */
  siblings?: string[];
  feedback?: Feedback | null;
  content?: string;
  attachments?: Attachment[];
  thinking?: string;
  /** The time that the model spent on its reasoning. */
  thinkingMs?: number;
  model: string;
  models?: string[];
  toolCalls?: ToolCall[];
  sources?: Source[];
  /** Missing before the end. */
  usage?: Usage;
  status: "running" | "complete" | "interrupted" | "failed";
  finishReason?: string;
  /** Why a failed answer failed. */
  error?: { code: string; message: string };
  createdAt: string;
}

export interface ToolResult {
  type?: "tool_result";
  id: string;
  name?: string;
  ok: boolean;
  cached?: boolean;
  durationMs?: number;
  summary?: string;
  sources?: Source[];
  error?: { code: string; message: string };
}

/** An event of a running turn. */
export type TurnEvent =
  | StartEvent
  | { type: "thinking"; thinking: string }
  | { type: "content"; content: string }
  | { type: "reclassify"; characters: number }
  | ({ type: "tool_call" } & ToolCall)
  | { type: "tool_progress"; id: string; name: string; text: string }
  | (ToolResult & { type: "tool_result" })
  | { type: "title"; title: string }
  | ({ type: "usage" } & Usage)
  | { type: "done"; finishReason: string; models?: string[] }
  | ErrorEvent;

/** The event that begins a turn. */
export interface StartEvent {
  type: "start";
  conversationId: string;
  messageId: string;
  model: string;
  /** Whether the turn continues an answer: the stream has only what is new. */
  continues?: boolean;
}

/** The event that ends a failed turn. */
export interface ErrorEvent {
  type: "error";
  code: string;
  message: string;
  retryable: boolean;
  requestId?: string;
  retryAfterSeconds?: number;
  models?: string[];
}

export interface Model {
  name: string;
  provider: string;
  model: string;
  default: boolean;
  demo: boolean;
  /** False if it takes no pictures. */
  images?: boolean;
  failing?: boolean;
}

export interface Agent {
  id: string;
  name: string;
  description?: string;
  /** Whether its answers are followed by questions. */
  followUps?: boolean;
  /** False if it does not search the web. */
  searches?: boolean;
}

export interface Execution {
  tool: string;
  arguments: unknown;
  ok: boolean;
  error?: string;
  cached: boolean;
  durationMs: number;
  bytes: number;
  credits: number;
}

export interface Erasure {
  conversations: number;
  keys: number;
  others: number;
}
