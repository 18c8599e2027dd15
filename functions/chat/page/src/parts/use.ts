// What the parts offer: each function loads its part on first use.

import { ApiError } from "../api/client.ts";
import type { Attachment, Conversation } from "../api/types.ts";
import type { MessageView } from "../chat/branch.ts";
import { t } from "../i18n/index.ts";
import { dismissDrawer } from "../state/drawer.ts";
import type { Answered } from "../library/follow-ups.ts";
import { el } from "../view/dom.ts";
import { showError } from "../view/toast.ts";
import { loadAdministration, loadFiles, loadLibrary, loadSettings } from "./load.ts";

/** Calls `use` with a part; shows that the page is out of date if there is no such part any more. */
async function withPart<Part>(loading: Promise<Part | null>, use: (part: Part) => unknown): Promise<void> {
  const part = await loading;
  if (part) await use(part);
  else showError(new ApiError({ code: "outdated" }));
}

/** Deletes messages after a confirmation; resolves to whether they are deleted. */
export async function confirmDeletion(conversationId: string, messages: readonly MessageView[]): Promise<boolean> {
  let deleted = false;
  await withPart(loadLibrary(), async (part) => (deleted = await part.confirmDeletion(conversationId, messages)));
  return deleted;
}

/** Opens the palette with what is typed while it is loaded. */
export function openPalette(): void {
  if (document.getElementById("typed")) return;
  const focused = document.activeElement;
  const typed = el("input", { id: "typed", class: "offscreen", "aria-label": t.shell.palette });
  document.body.append(typed);
  typed.focus({ preventScroll: true });
  let wanted = true;
  const close = () => {
    if (document.activeElement === typed && focused instanceof HTMLElement) focused.focus();
    typed.remove();
  };
  typed.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    // Otherwise the key would stop a running answer.
    event.stopPropagation();
    wanted = false;
    close();
  });
  void withPart(loadLibrary().finally(close), (part) => wanted && part.openPalette(typed.value));
}

export const openShortcuts = () => void withPart(loadLibrary(), (part) => part.openShortcuts());
export const openExport = (conversation: Conversation) => void withPart(loadLibrary(), (part) => part.openExport(conversation));
export const openShare = (conversation: Conversation) => void withPart(loadLibrary(), (part) => part.openShare(conversation));
export const renameConversation = (conversation: Conversation) => void withPart(loadLibrary(), (part) => part.renameConversation(conversation));
export const removeConversation = (conversation: Pick<Conversation, "id" | "title">) => void withPart(loadLibrary(), (part) => part.removeConversation(conversation));
export const openImport = () => void withPart(loadLibrary(), (part) => part.openImport());
export const attachFiles = (files: File[]) => void withPart(loadFiles(), (part) => part.attachFiles(files));
export const openCited = (opener: HTMLElement) => void withPart(loadFiles(), (part) => part.openCited(opener));
export const showAttached = (root: HTMLElement, files: Attachment[]) => void loadFiles().then((part) => part?.showAttached(root, files));
export const showCallDetails = (panel: HTMLElement, messageId: string) => void loadLibrary().then((part) => part?.showCallDetails(panel, messageId));
export const showFollowUps = (answered: Answered) => void loadLibrary().then((part) => part?.showFollowUps(answered));
export const showShared = (id: string, main: HTMLElement) => withPart(loadLibrary(), (part) => part.showShared(id, main));

/** Opens the settings, and closes the list that covers a narrow page. */
export function openSettings(): void {
  dismissDrawer();
  void withPart(loadSettings(), (part) => part.openSettings());
}

/** Notifies the user that an answer of a conversation has ended, if that is wanted. */
export function notifyEnd(id: string | null): void {
  if (id !== null && localStorage.getItem("notify")) void loadSettings().then((part) => part?.notifyEnd(id));
}

/** Shows the administration, which has parts and styles of the settings. */
export const openAdministration = () => void withPart(loadSettings().then(loadAdministration), (part) => part.openAdministration());

export const openGuide = () => void withPart(loadSettings(), (part) => part.openGuide());
