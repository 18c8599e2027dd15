// The parts in which a file of conversations is sent: a function on AWS Lambda receives at most 6 MB. Pure.

/** A part of a file: its conversations, and the position of the first one in the file. */
export interface Batch {
  first: number;
  conversations: unknown[];
}

/** The characters of a part, of which a UTF-16 one has at most three bytes in UTF-8; a longer conversation is a part of its own. */
const MAX_CHARS = 1_000_000;

/** The most conversations of a part. */
const MAX_CONVERSATIONS = 50;

/** The parts of an imported file: a list of conversations, or one conversation. */
export function batches(file: unknown): Batch[] {
  const all: unknown[] = Array.isArray(file) ? file : [file];
  const parts: Batch[] = [];
  let size = Infinity;
  all.forEach((conversation, at) => {
    const chars = JSON.stringify(conversation).length;
    const last = parts.at(-1);
    if (!last || size + chars > MAX_CHARS || last.conversations.length >= MAX_CONVERSATIONS) {
      parts.push({ first: at, conversations: [conversation] });
      size = chars;
    } else {
      last.conversations.push(conversation);
      size += chars;
    }
  });
  return parts;
}

/** The title of a conversation in a file; empty if it has none. */
export function titleOf(conversation: unknown): string {
  const { title, conversation: head } = Object(conversation);
  const found: unknown = title ?? Object(head).title;
  return typeof found === "string" ? found : "";
}
