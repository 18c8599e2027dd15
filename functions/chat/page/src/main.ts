// The entry point: builds the page, routes by the URL's hash and handles global keys, and what other tabs report.

import { wireCitations } from "./answer/citation-card.ts";
import { wirePassages } from "./answer/passages.ts";
import { onReachable, tryAgain } from "./api/client.ts";
import { credential, reportFailure } from "./api/credential.ts";
import { onKeyChange } from "./api/key.ts";
import { completeSignIn, isRedirect, isSignInPending } from "./api/session.ts";
import { Chat } from "./chat/chat.ts";
import { Composer } from "./chat/composer.ts";
import { wireTransfers } from "./chat/transfer.ts";
import { t } from "./i18n/index.ts";
import { wireJumps } from "./markdown/jumps.ts";
import { sharedId } from "./parts/load.ts";
import { openAdministration, openPalette, openShortcuts, showShared } from "./parts/use.ts";
import { isAdministration, parseAddress } from "./state/address.ts";
import { loadChoice } from "./state/choice.ts";
import { dismissDrawer } from "./state/drawer.ts";
import { refreshList, retryLists } from "./state/lists.ts";
import { isTemporary, openId, startNew, takeTemporary } from "./state/open.ts";
import { onTabChange } from "./state/tabs.ts";
import { byId, el } from "./view/dom.ts";
import { renderShell } from "./view/shell.tsx";
import { hideConnectionError, hideToast, showError } from "./view/toast.ts";

const isTextField = (target: EventTarget | null) => target instanceof HTMLElement && target.matches("input, textarea, select");

/** The chat page. */
class Page {
  #chat: Chat;
  #composer: Composer;
  /** Whether a conversation, or a new one, was opened. */
  #isOpen = false;
  #choiceFailed = false;

  constructor() {
    renderShell((text) => void this.#chat.send(text));
    this.#chat = new Chat();
    this.#composer = new Composer({ onSend: (text, files) => void this.#chat.send(text, files), onStop: () => this.#chat.stop() });
    this.#chat.use(this.#composer);
  }

  /** Opens what the address names, after a sign-in that the address may complete. */
  async start(): Promise<void> {
    this.#listen();
    const redirected = isRedirect();
    const failure = redirected ? await completeSignIn() : null;
    if (failure) reportFailure(failure);
    const opened = this.#route();
    void refreshList();
    void this.#loadChoice();
    // What is loaded must not contain the message that is sent again.
    await opened;
    this.#chat.resume(redirected && failure === null);
  }

  #listen(): void {
    onKeyChange(() => {
      if (credential() !== null) this.#retry();
    });
    onReachable(() => {
      hideConnectionError();
      this.#retry();
    });
    onTabChange((id) => {
      void refreshList();
      if (id !== null && id === openId.value) void this.#chat.refresh();
    });
    for (const wire of [wireCitations, wireJumps, wirePassages]) wire(byId("scroller"));
    wireTransfers();
    const comeBack = () => {
      if (document.visibilityState !== "visible") return;
      this.#retry();
      tryAgain();
    };
    window.addEventListener("online", comeBack);
    document.addEventListener("visibilitychange", comeBack);
    // The user came back from the provider without a sign-in, to a page that waits for having left.
    window.addEventListener("pageshow", ({ persisted }) => {
      if (persisted && isSignInPending()) location.reload();
    });
    window.addEventListener("hashchange", ({ oldURL }) => void this.#route(new URL(oldURL).hash));
    document.addEventListener("keydown", (event) => this.#onKeydown(event));
  }

  /** Opens the conversation of the address, or a new one, or the administration above it, which leaves the chat as it is. */
  #route(from = ""): Promise<void> {
    if (isAdministration(location.hash)) {
      openAdministration();
      return Promise.resolve();
    }
    const { id, messageId } = parseAddress(location.hash);
    if (this.#isOpen && isAdministration(from) && id === openId.value && messageId === null) return Promise.resolve();
    this.#isOpen = true;
    const dismissed = dismissDrawer();
    const opened = this.#chat.open(id, messageId);
    // What the list covered cannot have the focus before the next render.
    if (dismissed) queueMicrotask(() => this.#composer.focus());
    isTemporary.value = takeTemporary() && id === null;
    return opened;
  }

  /** Handles the page's shortcuts; an open dialog handles its keys itself. */
  #onKeydown(event: KeyboardEvent): void {
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (control && !event.shiftKey && !event.altKey && key === "k") openPalette();
    else if (control && event.shiftKey && key === "o") startNew();
    else if (key === "?" && !control && !isTextField(event.target)) openShortcuts();
    else {
      // On Escape, the drawer closes, else the answer stops.
      if (key === "escape" && !dismissDrawer()) this.#chat.stop();
      return;
    }
    event.preventDefault();
  }

  /** Loads the models and the agents. */
  async #loadChoice(): Promise<void> {
    this.#choiceFailed = false;
    try {
      await loadChoice();
    } catch (error) {
      this.#choiceFailed = true;
      showError(error, { action: { label: t.retry, run: () => void this.#loadChoice() } });
    }
  }

  /** Repeats what failed: the server may be reachable again, or a key is set. */
  #retry(): void {
    void retryLists();
    void this.#chat.retry();
    if (!this.#choiceFailed) return;
    hideToast();
    void this.#loadChoice();
  }
}

/** Shows a shared copy instead of the chat. */
function startShared(id: string): void {
  document.querySelector('link[rel="manifest"]')?.remove();
  const main = el("main", { id: "shared" });
  document.body.append(main, el("div", { class: "offscreen", id: "announcer", role: "status" }));
  void showShared(id, main);
}

document.documentElement.lang = t.locale;
const shared = sharedId();
if (shared === null) void new Page().start();
else startShared(shared);
