// The address of a conversation: `#/c/ID`, or `#/c/ID/MESSAGE` for the branch through a message.

/** The address of a conversation, at a message if one is given. */
export const addressOf = (id: string, messageId?: string) => `#/c/${id}${messageId ? `/${messageId}` : ""}`;

/** The conversation and the message of an address. */
export function parseAddress(hash: string): { id: string | null; messageId: string | null } {
  const [, id = null, messageId = null] = /^#\/c\/(\w+)(?:\/(\w+))?$/.exec(hash) ?? [];
  return { id, messageId };
}

/** Whether an address is one of the administration. */
export const isAdministration = (hash: string) => hash.startsWith("#/admin/");
