// The other pages of this browser that show the same server: each notifies the others which conversation has changed.

const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("lambda-chat");

/** Notifies the other pages; null is the whole list. */
export function notifyTabs(id: string | null): void {
  channel?.postMessage({ id });
}

/** Calls `listener` when another page has changed a conversation. */
export function onTabChange(listener: (id: string | null) => void): void {
  channel?.addEventListener("message", ({ data }) => listener(typeof data?.id === "string" ? data.id : null));
}
