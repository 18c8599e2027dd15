// A conversation as the server has it: all of its pages.

import { readConversation } from "./api.js";

/** Reads a conversation whole. */
export async function readAll(id) {
  const messages = [];
  let cursor = null;
  for (;;) {
    const page = await readConversation(id, cursor);
    messages.push(...page.messages);
    if (page.nextCursor === null) return { conversation: page.conversation, messages };
    cursor = page.nextCursor;
  }
}
