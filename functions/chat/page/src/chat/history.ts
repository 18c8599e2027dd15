// A whole conversation: all of its pages of messages.

import { readConversation } from "../api/client.ts";
import type { Conversation, Message } from "../api/types.ts";

/** Reads a conversation with all of its messages. */
export async function readFullConversation(id: string): Promise<{ conversation: Conversation; messages: Message[] }> {
  const messages: Message[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page: Awaited<ReturnType<typeof readConversation>> = await readConversation(id, cursor);
    messages.push(...page.messages);
    if (page.nextCursor === null) return { conversation: page.conversation, messages };
    cursor = page.nextCursor;
  }
}
