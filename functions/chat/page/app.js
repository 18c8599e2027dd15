// The entry point: connects the modules, routes by the URL's hash and handles global keys.

import { Agents } from "./agents.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { Conversations } from "./conversations.js";
import { openDialog, wireDialogs } from "./dialogs.js";
import { byId } from "./dom.js";
import { Drawer } from "./drawer.js";
import { key, onKeyChange } from "./key.js";
import { Models } from "./models.js";
import { Privacy } from "./privacy.js";
import { hideToast, showError } from "./toast.js";

const NAME = "Lambda Chat";

let pickersFailed = false;

const agents = new Agents();
const models = new Models();
const drawer = new Drawer();
const conversations = new Conversations({ onRenamed: showTitle, onDeleted: leaveDeleted });
const chat = new Chat({
  agents,
  models,
  listeners: { onStarted, onTitle, onOpened, onChanged: () => conversations.refresh() },
});
const composer = new Composer({ onSend: (text) => chat.send(text), onStop: () => chat.stop() });
chat.use(composer);
new Privacy({ onErased: resetAll });

function onStarted({ id, title, visible }) {
  conversations.update({ id, ...(title && { title }), updatedAt: new Date().toISOString() });
  if (!visible) return;
  history.replaceState(null, "", `#/c/${id}`);
  conversations.mark(id);
  showTitle();
}

function onTitle(id, title) {
  conversations.update({ id, title });
  showTitle();
}

function onOpened(conversation) {
  conversations.update(conversation);
  showTitle();
}

function showTitle() {
  const title = chat.id === null ? null : conversations.title(chat.id);
  byId("title").textContent = title ?? "New conversation";
  document.title = title ? `${title} – ${NAME}` : NAME;
}

function leaveDeleted(id) {
  if (chat.id === id) location.hash = "#/";
}

/** Opens the conversation of the URL, `#/c/ID`, or a new one. */
function route() {
  const id = /^#\/c\/(\w+)$/.exec(location.hash)?.[1] ?? null;
  drawer.dismiss();
  conversations.mark(id);
  const opened = chat.open(id);
  showTitle();
  return opened;
}

function startNew() {
  if (location.hash === "#/") route();
  else location.hash = "#/";
}

/** Removes the key and the drafts of its owner, and reloads the page. */
function resetSession() {
  sessionStorage.clear();
  history.replaceState(null, "", "#/");
  location.reload();
}

/** Removes all data from the browser's storage, and reloads the page. */
function resetAll() {
  localStorage.clear();
  resetSession();
}

/** Moves the focus without the link's hash, because the hash names the conversation. */
function skip(event) {
  event.preventDefault();
  byId("message").focus();
}

/** On Escape, closes the drawer, else stops the answer. An open dialog handles the key itself. */
function onKeydown(event) {
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
  if (!drawer.dismiss()) chat.stop();
}

/** Loads the models and the agents. */
async function loadPickers() {
  try {
    await Promise.all([models.load(), agents.load()]);
    pickersFailed = false;
  } catch (error) {
    pickersFailed = true;
    showError(error, { action: { label: "Try again", run: loadPickers } });
  }
}

/** Retries failed loads when a key is set. */
function onKey() {
  byId("forget-key").hidden = key() === null;
  if (key() === null) return;
  conversations.retry();
  if (pickersFailed) {
    hideToast();
    loadPickers();
  }
}

function wire() {
  wireDialogs();
  onKeyChange(onKey);
  byId("forget-key").addEventListener("click", resetSession);
  byId("demo-more").addEventListener("click", () => openDialog("demo-dialog"));
  for (const id of ["new-chat", "new-chat-compact"]) byId(id).addEventListener("click", startNew);
  for (const example of document.querySelectorAll(".example")) {
    example.addEventListener("click", () => chat.send(example.textContent));
  }
  byId("toast-close").addEventListener("click", hideToast);
  byId("skip").addEventListener("click", skip);
  window.addEventListener("hashchange", route);
  document.addEventListener("keydown", onKeydown);
}

wire();
route();
conversations.refresh();
loadPickers();
