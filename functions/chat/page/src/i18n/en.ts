// The texts of the page in English. `zh-CN.ts` has the same keys; a missing one is a type error.

import { number } from "./format.ts";
import { settings } from "./settings/en.ts";
import { setup } from "./setup/en.ts";
import { signIn } from "./sign-in/en.ts";

const LOCALE = "en";
const n = (value: number) => number(LOCALE, value);
const plural = (value: number, noun: string) => `${n(value)} ${noun}${value === 1 ? "" : "s"}`;

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
  | "list_directory";

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
  },

  welcome: {
    title: "What would you like to know?",
    text: "Answers can search the web. You see each search and the pages that an answer is based on.",
    examples: ["How do heat pumps work?", "What is 365 × 24 × 60?", "What time is it in Tokyo?"],
  },

  demo: {
    name: "Demo model.",
    text: "It shows how answers look and knows only this product.",
    example: "What is Lambda Chat?",
    more: "Use a real model",
  },

  list: {
    empty: "Your conversations will appear here.",
    more: "More",
    rename: "Rename",
    delete: "Delete",
    actions: (title: string) => `Actions for ${title}`,
    today: "Today",
    yesterday: "Yesterday",
    lastWeek: "Last 7 days",
    earlier: "Earlier",
    renameTitle: "Rename conversation",
    title: "Title",
    titleLength: (max: number) => `A title has 1 to ${max} characters.`,
    deleteTitle: "Delete this conversation?",
    deleteText: (title: string) => `“${title}” and all of its messages will be deleted. You can’t undo this.`,
  },

  settings,
  setup,
  signIn,

  key: {
    title: "Enter your key",
    text: "This server needs a key. It is sent only to this server.",
    label: "Key",
    use: "Use key",
    rejected: "That key was not accepted.",
    invalid: "A key has only letters, digits and symbols, without spaces.",
  },

  data: {
    exportTitle: "Export your data",
    exportText: "Download everything this server stores about you: conversations, usage and tool calls. One JSON object per line.",
    export: "Export my data",
    collecting: "Collecting…",
    collected: (size: string) => `Collecting… ${size} so far.`,
    saved: (size: string, file: string) => `Saved ${size} as ${file}.`,
    incomplete: "The export was cut off, so no file was saved. Please try again.",
    eraseTitle: "Erase your data",
    eraseText: "Permanently delete everything about you from this server. You will be asked to confirm.",
    erase: "Erase everything…",
    confirmTitle: "Erase everything?",
    confirmText: "This will be deleted permanently:",
    effects: ["your conversations, including an answer that is being written", "your usage, costs and tool calls"],
    effectKeys: "your keys, including keys that others use in your name",
    effectBrowser: "your drafts and choices in this browser",
    confirmLabel: (text: string) => `Type ${text} to confirm`,
    confirmError: (text: string) => `Please type “${text}”.`,
    confirm: "Erase",
    erasing: "Erasing…",
    erasedTitle: "Everything is erased",
    startOver: "Start over",
    nothingErased: "There was nothing left to erase.",
    erased: (list: string) => `Deleted: ${list}.`,
    conversations: (value: number) => plural(value, "conversation"),
    keys: (value: number) => plural(value, "key"),
    records: (value: number) => plural(value, "other record"),
  },

  composer: {
    stillWriting: "The answer is still being written. Your text stays here.",
    tooLong: (excess: number, limit: number) =>
      `${plural(excess, "character")} too many: a message has at most ${n(limit)}.`,
    length: (value: number, limit: number) => `${n(value)} of ${n(limit)} characters`,
    choose: (current: string) => `Model and agent: ${current}`,
    model: "Model",
    agent: "Agent",
    defaultAgent: "Default",
    failing: "failing at the moment",
  },

  chat: {
    you: "You",
    answer: "Answer",
    lost: "Interrupted: the connection to the server was lost.",
    reloaded: "Interrupted: the connection was lost. This is the answer as the server has it.",
    unsaved: "Interrupted: the server has not stored this text. Copy what you need.",
    load: "Load the stored answer",
    waiting: "Waiting for the model…",
    backInBox: "Your message is back in the box.",
    backInItsBox: "Your message is back in the box of its conversation.",
    sendAgain: "Send again",
    gone: "This conversation doesn’t exist. It may have been deleted.",
    startNew: "Start a new conversation",
    stoppedBefore: "You stopped before the answer began.",
    reconnecting: "The connection was lost. Reconnecting…",
  },

  answer: {
    steps: "Steps",
    sources: "Sources",
    source: (index: number) => `Source ${index}`,
    moreSources: (value: number) => `${n(value)} more`,
    openSource: "Open page",
    thinking: "Thinking…",
    thoughts: "Thoughts",
    thoughtFor: (duration: string) => `Thought for ${duration}`,
    stopping: "Stopping…",
    reading: "Reading the results…",
    stillWriting: "This answer is still being written…",
    interrupted: "This answer was interrupted.",
    request: (id: string) => `Request ${id}`,
    again: "Answer again",
    retryTitle: "Answers your message once more.",
    complete: "Answer complete.",
    ended: (reason: string) => `Answer ended. ${reason}`,
    noResult: "no result",
    failed: "It did not work.",
    results: (value: number) => plural(value, "result"),
    cached: "cached",
    stepCount: (value: number) => plural(value, "step"),
    continuedBy: (models: string) => `Continued by ${models}`,
    answeredBy: (models: string) => `Answered by ${models}`,
    usage: (input: string, output: string, credits: number) =>
      [`${input} tokens in`, `${output} out`, ...(credits > 0 ? [plural(credits, "search credit")] : [])].join(" · "),
    taskDone: "Done",
    taskOpen: "To do",
    footnotes: "Footnotes",
    footnoteBack: (label: string) => `Back to reference ${label}`,
  },

  passage: {
    open: "Show the passage",
    lines: (first: number, last: number) => (first === last ? `Line ${first}` : `Lines ${first}–${last}`),
    above: "Show earlier lines",
    below: "Show later lines",
    missing: "There is no document with this name. It may have been moved or deleted.",
    notText: "This document isn’t text, so it can’t be shown here.",
    short: (line: number) => `This document has no line ${line}. It may have changed since.`,
  },

  finish: {
    length: "The model reached its output limit, so this answer may be incomplete.",
    content_filter: "The provider’s content filter cut this answer short.",
    stopped: "This answer was stopped.",
    deadline: "Time ran out. This answer uses what was found until then.",
    tool_limit: "The limit of tool rounds was reached. The rest was written without tools.",
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
  } satisfies Record<string, ToolLabels> as Record<ToolName, ToolLabels>,
  otherTool: (name: string): ToolLabels => [`Using ${name}`, `Used ${name}`],
  stepLabel: (label: string, subject: string) => `${label}: ${subject}`,

  details: {
    title: "Details",
    forbidden: "Only administrators can see the details of calls.",
    none: "The details of these calls are no longer stored.",
    columns: ["Tool", "Arguments", "Outcome", "Time", "Read by the model", "Credits"],
    done: "done",
    failed: "failed",
  },


  errors: {
    network: "The server can’t be reached.",
    offline: "You are offline.",
    disconnected: "The connection to the server was lost.",
    unreadable: "The server sent an answer that this page can’t read.",
    unauthorized: "A valid key is needed.",
    signed_out: "Please sign in to continue.",
    forbidden: "You don’t have permission to do this.",
    not_found: "This doesn’t exist. It may have been deleted.",
    turn_in_progress: "An answer is already being written in this conversation.",
    too_large: "The message is too long.",
    rate_limited: "Too many requests.",
    quota_exhausted: "The budget is used up.",
    content_filtered: "The provider rejected this content.",
    context_too_long: "This conversation is too long for the model. Please start a new one.",
    internal: "Something went wrong on the server.",
    storage_damaged: "The database file is damaged or missing.",
    storage_busy: "The database is busy.",
    storage_full: "The disk is full.",
    upstream_unavailable: "The model can’t be reached or is overloaded.",
    upstream_bad_response: "The model sent something that is not an answer.",
    upstream_rejected: "The model rejected the request.",
    upstream_auth: "The model’s provider rejected the server’s key.",
    upstream_stalled: "The model stopped sending.",
    upstream_disconnected: "The connection to the model was lost.",
    auth_not_configured: "This server is not set up yet: its operator must set AUTH to api_key or jwt.",
    not_configured: "A setting of this server is invalid. The server’s log names it.",
    invalid_arguments: "The model called the tool with unsuitable arguments.",
    unknown_tool: "The model called a tool that doesn’t exist.",
    too_many_calls: "The model made too many calls at once.",
    timeout: "It took too long.",
    interrupted: "The answer was interrupted.",
    deadline: "Time ran out before there was an answer.",
  },
  errorStatus: (status: number) => `The server answered with status ${status}.`,
  retryIn: (sentence: string, seconds: number) => `${sentence} You can try again ${waitText(seconds)}.`,
  retryNow: (sentence: string) => `${sentence} You can try again now.`,

  size: {
    bytes: (value: number) => plural(value, "byte"),
  },
};

/** The wait in seconds, minutes or hours, or the time of day tomorrow for long ones. */
function waitText(seconds: number): string {
  if (seconds > 7200) return `in ${plural(Math.ceil(seconds / 3600), "hour")}`;
  return seconds > 120 ? `in ${plural(Math.ceil(seconds / 60), "minute")}` : `in ${plural(seconds, "second")}`;
}

/** The texts of a language; `en` is the model. */
export type Texts = typeof en;
