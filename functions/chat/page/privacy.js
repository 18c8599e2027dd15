// The dialog for the caller's own data: export as a file, or erase.

import { ApiError, eraseAccount, exportAccount } from "./api.js";
import { openDialog } from "./dialogs.js";
import { byId } from "./dom.js";
import { ExportCheck } from "./export-check.js";
import { disablePrompt, key } from "./key.js";
import { erasureText, errorText, sizeText } from "./strings.js";

const FILE = "lambda-chat.jsonl";
const TYPE = "application/x-ndjson";

/** The confirmation that the user types and the page sends. */
const CONFIRMATION = "erase";

const INCOMPLETE = "The export broke off before its end, so no file was saved. Please try again.";

/** The dialog; it calls `onErased` after a complete erasure. */
export class Privacy {
  #exportButton = byId("export");
  #exportState = byId("export-state");
  #exportAbort = null;
  #onErased;

  constructor({ onErased }) {
    this.#onErased = onErased;
    byId("open-privacy").addEventListener("click", () => this.#open());
    this.#exportButton.addEventListener("click", () => this.#export());
    byId("erase").addEventListener("click", () => this.#erase());
    byId("privacy-dialog").addEventListener("close", () => this.#exportAbort?.abort());
  }

  #open() {
    this.#announceState("");
    openDialog("privacy-dialog");
  }

  /** Saves the export as a file; closing the dialog aborts it. */
  async #export() {
    if (this.#exportAbort && !this.#exportAbort.signal.aborted) return;
    const abort = new AbortController();
    this.#exportAbort = abort;
    this.#exportButton.setAttribute("aria-disabled", "true");
    this.#announceState("Collecting…");
    try {
      const file = await this.#readExport(abort.signal);
      save(file);
      this.#announceState(`Saved ${sizeText(file.size)} as ${FILE}.`);
    } catch (error) {
      const text = error.code === "disconnected" ? INCOMPLETE : errorText(error);
      if (!abort.signal.aborted) this.#announceState(text, true);
    } finally {
      abort.abort();
      if (this.#exportAbort === abort) this.#exportButton.removeAttribute("aria-disabled");
    }
  }

  /** Reads the whole export; throws if it is incomplete. */
  async #readExport(signal) {
    const [chunks, check] = [[], new ExportCheck()];
    let size = 0;
    for await (const chunk of exportAccount(signal)) {
      chunks.push(chunk);
      check.push(chunk);
      size += chunk.length;
      this.#showState(`Collecting… ${sizeText(size)} so far.`);
    }
    if (!check.isComplete) throw new ApiError({ code: "disconnected", retryable: true });
    return new Blob(chunks, { type: TYPE });
  }

  #showState(text, failed = false) {
    this.#exportState.textContent = text;
    this.#exportState.classList.toggle("field-error", failed);
  }

  /** Shows a state and announces it to screen readers; the progress in between is not announced. */
  #announceState(text, failed = false) {
    this.#showState(text, failed);
    byId("export-announcer").textContent = text;
  }

  async #erase() {
    byId("privacy-dialog").close("");
    byId("erase-keys").hidden = key() === null;
    await openDialog("erase-dialog", { submit: (value) => this.#submitErasure(value) });
  }

  /** Erases everything. Closing the dialog does not cancel the erasure; its result is shown anyway. */
  async #submitErasure(value) {
    if (value.toLowerCase() !== CONFIRMATION) throw new Error(`Please type the word ${CONFIRMATION}.`);
    const counts = await this.#requestErasure();
    disablePrompt();
    byId("erase-dialog").close("submitted");
    await openDialog("erased-dialog", { texts: { gone: erasureText(counts) } });
    this.#onErased();
  }

  /** Sends the request. The server waits for running answers, which may take some seconds. */
  async #requestErasure() {
    const state = byId("erase-state");
    state.textContent = "Erasing…";
    try {
      return await eraseAccount(CONFIRMATION);
    } catch (error) {
      throw new Error(errorText(error));
    } finally {
      state.textContent = "";
    }
  }
}

/** Downloads a file through a temporary link. */
function save(file) {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = FILE;
  link.click();
  // The browser reads the URL after this function returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
