// What the server sends: written by `cargo run -p openapi` from tests/openapi/api.txt, never by hand.

/** All text so far, with `?sse=accumulated`. */
export type AccumulatedEvent = {
  type: "content";
  content: string;
  thinking: string;
};

export type AgentSummary = {
  id: string;
  name: string;
  description: string;
  default: boolean;
  followUps?: boolean;
  /** `false` for an agent without a web search. */
  searches?: boolean;
};

export type Attachment = {
  id: string;
  name: string;
  type: string;
  bytes: number;
  kind: "image" | "text";
};

/** More of the answer. */
export type ContentEvent = {
  type: "content";
  content: string;
};

/** The end of an answer. */
export type DoneEvent = {
  type: "done";
  finishReason: FinishReason;
  models?: string[];
};

/** What was deleted. */
export type Erasure = {
  keys: number;
  conversations: number;
  others: number;
};

export type ErrorCode = "invalid_request" | "unauthorized" | "forbidden" | "not_found" | "model_not_found" | "method_not_allowed"
  | "previous_response_not_found" | "turn_in_progress" | "idempotency_mismatch" | "too_large"
  | "unsupported_media_type" | "rate_limited" | "quota_exhausted" | "invalid_attachment"
  | "images_unsupported" | "content_filtered" | "context_too_long" | "internal" | "storage_damaged"
  | "upstream_unavailable" | "upstream_bad_response" | "upstream_rejected" | "upstream_auth"
  | "upstream_stalled" | "upstream_disconnected" | "storage_busy" | "auth_not_configured"
  | "not_configured" | "interrupted" | "deadline" | "storage_full";

/** The end of a turn that failed, instead of `done`. */
export type ErrorEvent = {
  type: "error";
  code: ErrorCode;
  message: string;
  retryable: boolean;
  requestId: string;
  retryAfterSeconds?: number;
  models?: string[];
};

/** The JSON of a frame; `[DONE]` follows the last one. */
export type Event = StartEvent | ThinkingEvent | ContentEvent | AccumulatedEvent | ReclassifyEvent | ToolCallEvent
  | ToolProgressEvent | ToolResultEvent | TitleEvent | UsageEvent | DoneEvent | ErrorEvent;

export type Execution = {
  owner: string;
  id: string;
  agent: string;
  conversationId: string;
  tool: string;
  arguments: unknown;
  ok: boolean;
  error?: string;
  bytes: number;
  durationMs: number;
  cached: boolean;
  credits: number;
  at: string;
};

export type FinishReason = "stop" | "length" | "content_filter" | "stopped" | "deadline" | "tool_limit";

export type FoundConversation = {
  id: string;
  title: string;
  titleFrom: "message" | "model" | "user";
  model: string;
  /** The messages of the shown branch. */
  messageCount: number;
  pinned: boolean;
  archived: boolean;
  createdAt: string;
  updatedAt: string;
  /** The end of a temporary conversation. */
  expiresAt?: string;
  /** `[[` and `]]` enclose what was found. */
  matches: {
    messageId: string;
    snippet: string;
  }[];
};

export type Message = {
  id: string;
  /** The message before it. */
  parentId: string | null;
  /** The messages with the same parent, itself included. */
  siblings?: string[];
  role: "user" | "assistant";
  /** The files of a user message. */
  attachments?: Attachment[];
  content: string;
  thinking: string;
  thinkingMs?: number;
  model: string;
  toolCalls: StoredCall[];
  sources: Source[];
  models?: string[];
  usage?: Usage;
  status: MessageStatus;
  finishReason?: FinishReason;
  error?: {
    code: ErrorCode;
    message: string;
  };
  feedback?: {
    rating: "up" | "down";
    reason: string | null;
  };
  createdAt: string;
};

export type MessageStatus = "running" | "complete" | "failed" | "interrupted";

export type Model = {
  name: string;
  provider: string;
  model: string;
  default: boolean;
  tools: "native" | "prompt";
  toolsFrom: "settings" | "table" | "provider" | "learned";
  /** Whether it takes pictures, as far as is known. */
  images: boolean;
  demo: boolean;
  failing?: boolean;
};

export type Rating = {
  conversationId: string;
  messageId: string;
  owner: string;
  rating: "up" | "down";
  reason: string | null;
  model: string;
  createdAt: string;
};

/** The last so many characters of the text so far are reasoning. */
export type ReclassifyEvent = {
  type: "reclassify";
  characters: number;
};

export type Share = {
  id: string;
  /** Relative to the address of the server. */
  url: string;
  createdAt: string;
  expiresAt: string;
};

export type Source = {
  /** The number of the page in its conversation, as answers cite it. */
  index: number;
  title: string;
  url: string;
  excerpt?: string;
};

/** First, once. */
export type StartEvent = {
  type: "start";
  conversationId: string;
  messageId: string;
  model: string;
  continues?: boolean;
};

export type StoredCall = {
  id: string;
  name: string;
  arguments: unknown;
  ok: boolean;
  summary: string;
  /** What the message had before the call. */
  position?: {
    text: number;
    thinking: number;
    thinkingMs?: number;
  };
  durationMs?: number;
  cached?: boolean;
  /** The client runs it. */
  client?: true;
  error?: ToolFailure;
};

export type StoredFile = {
  id: string;
  name: string;
  type: string;
  bytes: number;
  kind: "image" | "text";
  /** Of a picture, in pixels. */
  width: number | null;
  height: number | null;
  /** Pages, slides or sheets. */
  pages: number | null;
  /** The length of its text. */
  characters: number | null;
  /** Whether only the beginning of its text is kept. */
  truncated: boolean;
};

/** More reasoning. */
export type ThinkingEvent = {
  type: "thinking";
  thinking: string;
};

/** A title for a new conversation. */
export type TitleEvent = {
  type: "title";
  title: string;
};

/** A complete call, before it runs. */
export type ToolCallEvent = {
  type: "tool_call";
  id: string;
  name: string;
  arguments: unknown;
};

export type ToolFailure = {
  code: string;
  message: string;
};

/** New text from a running call. */
export type ToolProgressEvent = {
  type: "tool_progress";
  id: string;
  name: string;
  text: string;
};

/** A finished call, in order of completion. */
export type ToolResultEvent = {
  type: "tool_result";
  id: string;
  name: string;
  ok: boolean;
  cached: boolean;
  durationMs: number;
  summary: string;
  sources: Source[];
  error?: ToolFailure;
};

/** A form with these fields, and the field `file` at its end. */
export type Upload = {
  id: string;
  url: string;
  fields: Record<string, string>;
};

export type Usage = {
  inputTokens: number;
  /** The part of the input that the provider read from its cache. */
  cachedTokens?: number;
  outputTokens: number;
  searchCredits: number;
  estimated: boolean;
  /** In millionths of the currency of the prices. */
  costMicros?: number;
};

/** Once, before the end. */
export type UsageEvent = {
  type: "usage";
  inputTokens: number;
  /** The part of the input that the provider read from its cache. */
  cachedTokens?: number;
  outputTokens: number;
  searchCredits: number;
  estimated: boolean;
  /** In millionths of the currency of the prices. */
  costMicros?: number;
};

export type UsageRow = {
  turns: number;
  estimatedTurns: number;
  inputTokens: number;
  outputTokens: number;
  searchCredits: number;
  costMicros?: number;
  user?: string | null;
  group?: string | null;
  model?: string | null;
};
