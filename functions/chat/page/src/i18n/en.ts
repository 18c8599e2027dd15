// The texts of the page in English. `zh-CN.ts` has the same keys; a missing one is a type error.

import { number } from "./format.ts";
import { signIn } from "./sign-in/en.ts";

const LOCALE = "en";
const n = (value: number) => number(LOCALE, value);
const plural = (value: number, noun: string, many = `${noun}s`) => `${n(value)} ${value === 1 ? noun : many}`;

/** The labels of a call: while it runs, and afterwards. */
export type ToolLabels = [string, string];

type ToolName =
  | "search_web"
  | "read_url"
  | "search_articles"
  | "calculator"
  | "current_time"
  | "grep_search"
  | "glob_search"
  | "read_file"
  | "list_directory"
  | "search_attachments"
  | "read_attachment";

export const en = {
  locale: LOCALE,
  name: "English",
  newConversation: "New conversation",
  untitled: "Untitled",
  retry: "Try again",
  cancel: "Cancel",
  close: "Close",
  dismiss: "Dismiss",
  loading: "Loading…",
  copy: "Copy",
  copied: "Copied",
  copyCode: "Copy code",
  table: "Table",

  shell: {
    skip: "Skip to the message box",
    conversations: "Conversations",
    closeList: "Close the list",
    list: "List of conversations",
    settings: "Settings",
    lightColours: "Use light colours",
    darkColours: "Use dark colours",
    latest: "Go to the latest message",
    message: "Message",
    placeholder: "Ask anything",
    send: "Send (Enter)",
    stop: "Stop (Escape)",
    palette: "Search and commands",
    actions: "Conversation actions",
  },

  welcome: {
    title: "What would you like to know?",
    text: "Searches the web when needed and shows every source.",
    examples: ["How do heat pumps work?", "What is 365 × 24 × 60?", "What time is it in Tokyo?"],
  },

  demo: {
    examples: ["What does Lambda Chat do and cost?", "Where are conversations kept?", "What happens if my connection drops?"],
    more: "Use a real model",
    free: "no cost",
    firstText: (duration: string) => `first text after ${duration}`,
  },

  temporary: {
    name: "Temporary conversation.",
    text: " Not in your list or search, and deleted within 24 hours.",
    delete: "Delete now",
    title: "Temporary conversation",
  },

  list: {
    empty: "Your conversations will appear here.",
    more: "More",
    rename: "Rename",
    pin: "Pin",
    unpin: "Unpin",
    pinned: "Pinned",
    share: "Share…",
    export: "Export…",
    archive: "Archive",
    archived: "Archived.",
    archiveTitle: "Archive",
    archiveEmpty: "Your archive is empty.",
    restore: "Unarchive",
    undo: "Undo",
    restored: "Unarchived.",
    back: "All conversations",
    search: "Search conversations",
    searchShort: "Search",
    searchArchive: "Search the archive",
    results: "Results",
    nothing: "Nothing found.",
    found: (value: number, more: boolean) => (value === 0 ? "Nothing found." : `${more ? "At least " : ""}${plural(value, "conversation")} found.`),
    delete: "Delete",
    actions: (title: string) => `Actions for ${title}`,
    today: "Today",
    yesterday: "Yesterday",
    lastWeek: "Last 7 days",
    earlier: "Earlier",
    running: "An answer is being written",
    unread: "New answer",
  },

  signIn,

  key: {
    title: "Enter your access key",
    text: "It’s sent only to this server.",
    label: "Key",
    use: "Use key",
    rejected: "That key wasn’t accepted. Check it and try again.",
    invalid: "A key contains only letters, digits and symbols, with no spaces.",
    keep: "Keep me signed in on this device",
    keepHint: "Don’t do this on a shared device.",
  },

  composer: {
    stillWriting: "The answer is still being written. Your text stays here.",
    tooLong: (excess: number, limit: number) =>
      `${plural(excess, "character")} over the limit of ${n(limit)}.`,
    length: (value: number, limit: number) => `${n(value)} of ${n(limit)} characters`,
    choose: (current: string) => `Model and agent: ${current}`,
    attach: "Attach files",
    model: "Model",
    agent: "Agent",
    search: "Search",
    chooseSearch: (current: string) => `Search: ${current}`,
    searches: {
      auto: { label: "When needed" },
      deep: { label: "In depth", description: "Takes longer and costs more." },
      off: { label: "Off" },
    },
    /** Names and descriptions of agents that the server itself has. */
    ofServer: {
      Default: "Default",
      Documents: "Documents",
      "Answers from this deployment's documents and cites them by path and line.": "Answers from this deployment’s documents and cites them by path and line.",
    } as Record<string, string>,
    failing: "failing at the moment",
  },

  chat: {
    you: "You",
    answer: "Answer",
    lost: "Interrupted: the connection to the server was lost.",
    reloaded: "Interrupted: the connection was lost. This is what the server stored.",
    unsaved: "Interrupted: the server hasn’t stored this text in full. Copy what you need.",
    load: "Load the stored answer",
    waiting: "Waiting for the model…",
    backInBox: "Your message is back in the message box.",
    backInItsBox: "Your message is back in its conversation’s message box.",
    sendAgain: "Send again",
    gone: "This conversation doesn’t exist. It may have been deleted.",
    startNew: "Start a new conversation",
    stoppedBefore: "You stopped the answer before it began.",
    reconnecting: "The connection was lost. Reconnecting…",
    earlier: "Earlier messages",
  },

  question: {
    copy: "Copy message",
    edit: "Edit message",
    send: "Send",
    unfold: "Show all",
    fold: "Show less",
  },

  /** The switch between the versions of a message. */
  versions: {
    previous: "Previous version",
    next: "Next version",
    position: (at: number, count: number) => `Version ${n(at)} of ${n(count)}`,
  },

  deleteFrom: "Delete from here",

  rating: {
    up: "Good answer",
    down: "Bad answer",
    thanks: "Thanks for your feedback",
    withdrawn: "Feedback withdrawn",
    reason: "What was wrong? (optional)",
    send: "Send",
  },

  answer: {
    steps: "Steps",
    sources: "Sources",
    source: (index: number) => `Source ${index}`,
    sourceCount: (value: number) => plural(value, "source"),
    more: "More",
    openSource: "Open page",
    thinking: "Thinking…",
    thoughts: "Thoughts",
    thoughtFor: (duration: string) => `Thought for ${duration}`,
    stopping: "Stopping…",
    reading: "Reading the results…",
    stillWriting: "This answer is still being written…",
    interrupted: "This answer was interrupted.",
    request: (id: string) => `Request ${id}`,
    again: "Regenerate",
    continue: "Continue",
    retryTitle: "Answer your message again",
    complete: "Answer complete.",
    ended: (reason: string) => `Answer ended. ${reason}`,
    noResult: "no result",
    failed: "The tool failed.",
    cached: "cached",
    stepCount: (value: number) => plural(value, "step"),
    failedCount: (value: number) => `${n(value)} failed`,
    continuedBy: (models: string) => `Continued by ${models}`,
    answeredBy: (models: string) => `Answered by ${models}`,
    usage: (input: string, output: string, credits: number) =>
      [`${input} tokens in`, `${output} out`, ...(credits > 0 ? [plural(credits, "search credit")] : [])].join(" · "),
    cost: (amount: string) => `cost ${amount}`,
    taskDone: "Done",
    taskOpen: "To do",
    footnotes: "Footnotes",
    footnoteBack: (label: string) => `Back to reference ${label}`,
  },

  /** What a call found, by the nouns of the server's summaries. */
  found: {
    results: (value: number) => plural(value, "result"),
    articles: (value: number) => plural(value, "article"),
    passages: (value: number) => plural(value, "passage"),
    matches: (value: number) => plural(value, "match", "matches"),
    files: (value: number) => plural(value, "file"),
    entries: (value: number) => plural(value, "entry", "entries"),
    lines: (value: number) => plural(value, "line"),
    characters: (value: number) => plural(value, "character"),
    bytes: (value: number) => plural(value, "byte"),
  },

  passage: {
    open: "Show the passage",
    lines: (first: number, last: number) => (first === last ? `Line ${first}` : `Lines ${first}–${last}`),
    pages: (first: number, last: number) => (first === last ? `Page ${first}` : `Pages ${first}–${last}`),
  },

  finish: {
    length: "The model reached its output limit, so this answer may be incomplete.",
    content_filter: "The provider’s content filter cut this answer short.",
    stopped: "This answer was stopped.",
    deadline: "Time ran out. This answer uses what was found so far.",
    tool_limit: "Reached the search limit for one answer; the rest was written without further searches.",
  },

  /** The labels of a tool's calls: while it runs, and afterwards. */
  tools: {
    search_web: ["Searching", "Searched"],
    read_url: ["Reading", "Read"],
    search_articles: ["Searching the articles", "Searched the articles"],
    calculator: ["Calculating", "Calculated"],
    current_time: ["Checking the time", "Checked the time"],
    grep_search: ["Searching the documents", "Searched the documents"],
    glob_search: ["Looking for files", "Looked for files"],
    read_file: ["Reading", "Read"],
    list_directory: ["Listing", "Listed"],
    search_attachments: ["Searching the files", "Searched the files"],
    read_attachment: ["Reading", "Read"],
  } satisfies Record<string, ToolLabels> as Record<ToolName, ToolLabels>,
  otherTool: (name: string): ToolLabels => [`Using ${name}`, `Used ${name}`],
  labelled: (label: string, subject: string) => `${label}: ${subject}`,

  errors: {
    network: "The server can’t be reached.",
    offline: "You’re offline.",
    disconnected: "The connection to the server was lost.",
    unreadable: "The server sent a response that this page can’t read.",
    unauthorized: "A valid access key is required.",
    signed_out: "Please sign in to continue.",
    forbidden: "You don’t have permission to do this.",
    not_found: "This doesn’t exist. It may have been deleted.",
    turn_in_progress: "An answer is already being written in this conversation.",
    too_large: "The message is too long.",
    unsupported_media_type: "This type of file isn’t supported.",
    invalid_attachment: "This file is damaged or can’t be read.",
    images_unsupported: "This model can’t read an image of this message.",
    rate_limited: "Too many requests.",
    quota_exhausted: "The budget is used up.",
    content_filtered: "The provider rejected this content.",
    context_too_long: "This conversation is too long for the model. Please start a new one.",
    internal: "Something went wrong on the server.",
    storage_damaged: "The database file is damaged or missing.",
    storage_busy: "The database is busy.",
    storage_full: "The disk is full.",
    upstream_unavailable: "The model can’t be reached or is overloaded.",
    upstream_bad_response: "The model sent an answer that can’t be read.",
    upstream_rejected: "The model rejected the request.",
    upstream_auth: "The model’s provider rejected the server’s key.",
    upstream_stalled: "The model stopped sending.",
    upstream_disconnected: "The connection to the model was lost.",
    auth_not_configured: "This server isn’t set up yet. Its operator must set AUTH to api_key or jwt.",
    not_configured: "A setting of this server is invalid. The server’s log shows which one.",
    invalid_arguments: "The model called the tool with invalid arguments.",
    unknown_tool: "The model called a tool that doesn’t exist.",
    too_many_calls: "The model made too many calls at once.",
    timeout: "It took too long.",
    interrupted: "The answer was interrupted.",
    outdated: "This page is out of date. Please reload it.",
    deadline: "Time ran out before there was an answer.",
  },
  errorStatus: (status: number) => `The server responded with status ${status}.`,
  retryIn: (sentence: string, seconds: number) => `${sentence} You can try again ${waitText(seconds)}.`,
  retryNow: (sentence: string) => `${sentence} You can try again now.`,
};

/** The wait in seconds, minutes or hours, or the time of day tomorrow for long ones. */
function waitText(seconds: number): string {
  if (seconds > 7200) return `in ${plural(Math.ceil(seconds / 3600), "hour")}`;
  return seconds > 120 ? `in ${plural(Math.ceil(seconds / 60), "minute")}` : `in ${plural(seconds, "second")}`;
}

/** The texts of a language; `en` is the model. */
export type Texts = typeof en;
