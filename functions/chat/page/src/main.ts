// The entry point: builds the page, connects the modules, routes by the URL's hash and handles global keys.

import { ApiError, onReachable } from "./api/client.ts";
import { credential, forgetCredential, reportFailure } from "./api/credential.ts";
import { onKeyChange } from "./api/key.ts";
import { completeSignIn, isRedirect, providerSignOutUrl } from "./api/session.ts";
import { Chat } from "./chat/chat.ts";
import { Composer } from "./chat/composer.ts";
import { Picker } from "./chat/picker.ts";
import { notifyTabs, onTabChange } from "./chat/tabs.ts";
import { Conversations } from "./conversations.ts";
import { t } from "./i18n/index.ts";
import { wireJumps } from "./markdown/jumps.ts";
import { openSettings } from "./settings/settings.ts";
import { wireCitations } from "./answer/citation-card.ts";
import { wirePassages } from "./answer/passage.ts";
import { openGuide } from "./setup/guide.ts";
import { byId } from "./view/dom.ts";
import { Drawer } from "./view/drawer.ts";
import { buildShell } from "./view/shell.ts";
import { hideConnectionError, hideToast, showError } from "./view/toast.ts";

const NAME = "Lambda Chat";

let pickersFailed = false;

buildShell({
  onNew: startNew,
  onExample: (text) => void chat.send(text),
  onSettings: () => openSettings({ picker, onErased: resetAll, onForget: () => void signOut(), onChanged: retryFailed }),
  onDemo: openGuide,
  onDismissToast: hideToast,
});

const picker = new Picker();
const drawer = new Drawer();
const conversations = new Conversations({ onRenamed, onDeleted });
const chat = new Chat(picker, {
  onStarted,
  onTitle,
  onOpened,
  onChanged: (id) => {
    void conversations.refresh();
    notifyTabs(id);
  },
  onNew: startNew,
});
const composer = new Composer({ onSend: (text) => void chat.send(text), onStop: () => chat.stop() });
chat.use(composer);

function onStarted({ id, title, visible }: { id: string; title: string | undefined; visible: boolean }): void {
  conversations.update({ id, ...(title && { title }), updatedAt: new Date().toISOString() });
  notifyTabs(id);
  if (!visible) return;
  history.replaceState(null, "", `#/c/${id}`);
  conversations.mark(id);
  showTitle();
}

function onTitle(id: string, title: string): void {
  conversations.update({ id, title });
  showTitle();
}

function onOpened(conversation: { id: string }): void {
  conversations.update(conversation);
  showTitle();
}

function onRenamed(): void {
  showTitle();
  notifyTabs(null);
}

function onDeleted(id: string): void {
  if (chat.id === id) location.hash = "#/";
  notifyTabs(null);
}

function showTitle(): void {
  const title = chat.id === null ? null : conversations.title(chat.id);
  byId("title").textContent = title ?? t.newConversation;
  document.title = title ? `${title} – ${NAME}` : NAME;
}

/** Opens the conversation of the URL, `#/c/ID`, or a new one. */
function route(): void {
  const id = /^#\/c\/(\w+)$/.exec(location.hash)?.[1] ?? null;
  drawer.dismiss();
  conversations.mark(id);
  void chat.open(id);
  showTitle();
}

function startNew(): void {
  if (location.hash === "#/") route();
  else location.hash = "#/";
}

/** Removes the key and the drafts of its owner, and reloads the page. */
function resetSession(): void {
  forgetCredential();
  sessionStorage.clear();
  history.replaceState(null, "", "#/");
  location.reload();
}

/** Removes the credential, and ends the session at the identity provider if there is one. */
async function signOut(): Promise<void> {
  const url = await providerSignOutUrl();
  if (url === null) return resetSession();
  forgetCredential();
  sessionStorage.clear();
  location.assign(url);
}

/** Removes all data from the browser's storage, and reloads the page. */
function resetAll(): void {
  localStorage.clear();
  resetSession();
}

/** On Escape, closes the drawer, else stops the answer. An open dialog handles the key itself. */
function onKeydown(event: KeyboardEvent): void {
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
  if (!drawer.dismiss()) chat.stop();
}

/** Loads the models and the agents. */
async function loadPickers(): Promise<void> {
  try {
    await picker.load();
    pickersFailed = false;
  } catch (error) {
    pickersFailed = true;
    showError(ApiError.from(error), { action: { label: t.retry, run: () => void loadPickers() } });
  }
}

/** Repeats what failed: the server may be reachable again, or a key is set. */
function retryFailed(): void {
  void conversations.retry();
  void chat.retry();
  if (!pickersFailed) return;
  hideToast();
  void loadPickers();
}

/** Shows what has changed while the page was hidden. */
function onVisible(): void {
  if (document.visibilityState === "visible") retryFailed();
}

function wire(): void {
  onKeyChange(() => {
    if (credential() !== null) retryFailed();
  });
  onReachable(() => {
    hideConnectionError();
    retryFailed();
  });
  onTabChange((id) => {
    void conversations.refresh().then(showTitle);
    if (id !== null && id === chat.id) void chat.refresh();
  });
  wireCitations(byId("messages"));
  wireJumps(byId("messages"));
  wirePassages(byId("messages"));
  window.addEventListener("online", retryFailed);
  document.addEventListener("visibilitychange", onVisible);
  window.addEventListener("hashchange", route);
  document.addEventListener("keydown", onKeydown);
}

/** Opens what the address names, after a sign-in that the address may complete. */
async function start(): Promise<void> {
  if (isRedirect()) {
    const failure = await completeSignIn();
    if (failure) reportFailure(failure);
  }
  route();
  void conversations.refresh();
  void loadPickers();
}

wire();
void start();
