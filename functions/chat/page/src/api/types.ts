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

export interface Message {
  id: string;
  role: "user" | "assistant";
  content?: string;
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
  | { type: "start"; conversationId: string; messageId: string; model: string }
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
  failing?: boolean;
}

export interface Agent {
  id: string;
  name: string;
  description?: string;
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
