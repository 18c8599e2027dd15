// A whole conversation: all of its pages of messages.

import { readConversation } from "./api.js";

/** Reads a conversation with all of its messages. */
export async function readFullConversation(id) {
  const messages = [];
  let cursor = null;
  for (;;) {
    const page = await readConversation(id, cursor);
    messages.push(...page.messages);
    if (page.nextCursor === null) return { conversation: page.conversation, messages };
    cursor = page.nextCursor;
  }
}
