// The page's assembly: what each part tells the others, the address, the keys that work everywhere.

import { Agents } from "./agents.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { Conversations } from "./conversations.js";
import { Data } from "./data.js";
import { wireDialogs, ask } from "./dialogs.js";
import { byId } from "./dom.js";
import { Drawer } from "./drawer.js";
import { key, onKeyChange } from "./key.js";
import { Models } from "./models.js";
import { hideNotice, showError } from "./notice.js";

const NAME = "Lambda Chat";

let choicesFailed = false;

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
new Data({ onErased: beginAnew });

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

/** Opens what the address names: `#/c/ID`, or a new conversation. */
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

/** Everything that belongs to the key's owner goes with the key: drafts, and what the page shows. */
function forget() {
  sessionStorage.clear();
  history.replaceState(null, "", "#/");
  location.reload();
}

/** Nothing is left to be shown, and nothing that this browser keeps belongs to anything: the page begins anew. */
function beginAnew() {
  localStorage.clear();
  forget();
}

/** The address is the conversation's: the skip link moves the focus without it. */
function skip(event) {
  event.preventDefault();
  byId("message").focus();
}

/** Escape closes what is open, else stops the answer; a dialog takes it for itself. */
function onKeydown(event) {
  if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open]")) return;
  if (!drawer.dismiss()) chat.stop();
}

/** Reads what there is to choose from. */
async function loadChoices() {
  try {
    await Promise.all([models.load(), agents.load()]);
    choicesFailed = false;
  } catch (error) {
    choicesFailed = true;
    showError(error, { action: { words: "Try again", run: loadChoices } });
  }
}

/** With a key, what failed without one is worth another try. */
function onKey() {
  byId("forget-key").hidden = key() === null;
  if (key() === null) return;
  conversations.retry();
  if (choicesFailed) {
    hideNotice();
    loadChoices();
  }
}

function wire() {
  wireDialogs();
  onKeyChange(onKey);
  byId("forget-key").addEventListener("click", forget);
  byId("demo-more").addEventListener("click", () => ask("demo-dialog"));
  for (const id of ["new-chat", "new-here"]) byId(id).addEventListener("click", startNew);
  for (const example of document.querySelectorAll(".example")) {
    example.addEventListener("click", () => chat.send(example.textContent));
  }
  byId("notice-close").addEventListener("click", hideNotice);
  byId("skip").addEventListener("click", skip);
  window.addEventListener("hashchange", route);
  document.addEventListener("keydown", onKeydown);
}

wire();
route();
conversations.refresh();
loadChoices();
