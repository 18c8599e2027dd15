// The texts of the library in English.

const n = (value: number) => new Intl.NumberFormat("en").format(value);
const plural = (value: number, noun: string) => `${n(value)} ${noun}${value === 1 ? "" : "s"}`;

/** What goes with a message that is deleted. */
export interface Removal {
  /** Whether it is a message of the user. */
  question: boolean;
  /** The number of shown messages after it. */
  after: number;
  /** Whether there are other versions of those. */
  others: boolean;
  /** Whether there are other versions of the message itself, which stay. */
  stays: boolean;
}

export const texts = {
  list: {
    renameTitle: "Rename conversation",
    title: "Title",
    titleLength: (max: number) => `A title must have 1 to ${max} characters.`,
    deleteTitle: "Delete this conversation?",
    deleteText: (title: string) => `“${title}” and all of its messages will be deleted. You can’t undo this.`,
  },

  remove: {
    title: "Delete from here?",
    text: ({ question, after, others, stays }: Removal) =>
      [
        `This ${question ? "message" : "answer"}${after > 0 ? ` and the ${after === 1 ? "message" : `${n(after)} messages`} after it` : ""} will be deleted permanently${others ? ", with all their versions" : ""}.`,
        ...(stays ? [`The other versions of this ${question ? "message" : "answer"} stay.`] : []),
      ].join(" "),
  },

  palette: {
    placeholder: "Search conversations or type a command",
    recent: "Recent conversations",
    conversations: "Conversations",
    commands: "Commands",
    thisOne: (title: string) => `This conversation: ${title}`,
    nothing: "Nothing found. Search matches the beginnings of words.",
    results: (value: number) => plural(value, "result"),
    showArchive: "Open the archive",
    import: "Import conversations…",
    shortcuts: "Keyboard shortcuts",
    themes: { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" },
    language: (name: string) => `Language: ${name}`,
  },

  followUps: {
    label: "Follow-up questions",
    task: "Write three short questions that the user may want to ask next, in the user’s language, one per line. Write only the questions.",
  },

  shortcuts: {
    title: "Keyboard shortcuts",
    keys: {
      shortcuts: "Keyboard shortcuts",
      send: "Send the message",
      line: "New line in the message",
      stop: "Stop the answer, or close what’s open",
    },
    returnKey: "Enter",
    shift: "Shift",
    escape: "Esc",
  },

  details: {
    title: "Details",
    none: "The details of these calls are no longer stored.",
    columns: ["Tool", "Arguments", "Outcome", "Time", "Read by the model", "Credits"],
    done: "done",
    failed: "failed",
  },

  share: {
    title: "Share a conversation",
    warning: "Anyone with the link can read this copy without signing in.",
    text: "The link opens a copy of the conversation as it is now. Later messages won’t be added, and attached files appear by name only.",
    expiry: "The link expires",
    days: (value: number) => `after ${n(value)} days`,
    until: "Share",
    whole: "the whole conversation",
    upTo: (text: string) => `up to the answer to “${text}”`,
    create: "Create link",
    created: "The link is ready.",
    links: "Links to this conversation",
    none: "There are no links to this conversation.",
    made: (time: string) => `Created ${time}`,
    expires: (time: string) => `expires ${time}`,
    revoke: "Revoke",
    revoked: "The link has been revoked.",
    of: (label: string, time: string) => `${label}: link created ${time}`,
  },

  export: {
    title: "Export a conversation",
    markdown: "Markdown",
    markdownText: "The text with its sources, for notes and documents.",
    json: "JSON",
    jsonText: "All messages in every version. You can import it again later.",
    print: "Print or save as PDF",
    printText: "The text with its sources, on paper or as a PDF file.",
    saved: (name: string) => `Saved as ${name}.`,
  },

  import: {
    title: "Import conversations",
    text: "Choose a JSON file exported from Lambda Chat, or conversations.json from a ChatGPT export, up to 20 MiB.",
    file: "File",
    start: "Import",
    tooLarge: "The file is larger than 20 MiB.",
    conversationTooLarge: "too large",
    invalid: "The file isn’t valid JSON.",
    empty: "The file has no conversations.",
    reading: "Reading the file…",
    progress: (done: number, all: number) => `${n(done)} of ${plural(all, "conversation")}…`,
    imported: (value: number) => `${plural(value, "conversation")} imported.`,
    skipped: (value: number) => `${plural(value, "conversation")} skipped:`,
    item: (index: number) => `Conversation ${n(index)}`,
    stopped: (reason: string) => `${reason} The rest wasn’t imported.`,
    continue: "Continue",
  },

  demo: {
    name: "You’re trying the demo. ",
    text: "It only knows about Lambda Chat.",
    cut: "Cut the connection",
    cutAt: (position: string) => `Connection cut after character ${position}. Reconnecting…`,
    resumed: (position: string) => `Reconnected after character ${position}. Nothing is missing.`,
  },

  shared: {
    copy: (time: string) => `Shared copy from ${time}`,
    open: "Open Lambda Chat",
    gone: "This link doesn’t work. It may have expired or been revoked.",
    failed: "The shared conversation can’t be loaded at the moment.",
    attachments: (names: string[]) => `Attached: ${names.join(", ")}`,
  },
};

/** The texts of a language; those in English are the model. */
export type Texts = typeof texts;
