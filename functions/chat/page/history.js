// A conversation as the server has it: all of its pages, and a message that is still being written until it is not.

import { readConversation } from "./api.js";

const POLL_MS = 2000;

/** Reads a conversation whole; `cursor` is that of its last page. */
export async function readAll(id) {
  const messages = [];
  let cursor = null;
  for (;;) {
    const page = await readConversation(id, cursor);
    messages.push(...page.messages);
    if (page.nextCursor === null) return { conversation: page.conversation, messages, cursor };
    cursor = page.nextCursor;
  }
}

/**
 * Reads a message every two seconds until `onMessage` is done with it or `signal` fires.
 *
 * A read that fails is told to `onTrouble` and repeated; throws the error that says the conversation is gone.
 */
export async function followMessage({ id, cursor, messageId, signal, onMessage, onTrouble }) {
  for (;;) {
    await wait(POLL_MS, signal);
    const page = await readConversation(id, cursor).catch((error) => ({ error }));
    if (signal.aborted) return;
    if (page.error?.status === 404) throw page.error;
    if (page.error) onTrouble(page.error);
    const message = page.messages?.find((known) => known.id === messageId);
    if (message && !onMessage(message)) return;
  }
}

function wait(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
