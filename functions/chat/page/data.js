// The caller's own data: taken along as a file, or erased with everything else that is kept of the caller.

import { ApiError, eraseMe, exportMe } from "./api.js";
import { ask } from "./dialogs.js";
import { byId } from "./dom.js";
import { Ending } from "./ending.js";
import { key, stopAsking } from "./key.js";
import { erasedWords, errorWords, sizeWords } from "./words.js";

const FILE = "lambda-chat.jsonl";
const TYPE = "application/x-ndjson";

/** What is typed, and sent, to say that everything is meant to go. */
const WORD = "erase";

const BROKEN_OFF = "The export broke off before its end, so no file was saved. Please try again.";

/** The two things that a caller can do with all data at once; `onErased` is told when nothing is left of it. */
export class Data {
  #take = byId("export");
  #state = byId("export-state");
  #reading = null;
  #onErased;

  constructor({ onErased }) {
    this.#onErased = onErased;
    byId("your-data").addEventListener("click", () => this.#choose());
    this.#take.addEventListener("click", () => this.#export());
    byId("erase").addEventListener("click", () => this.#erase());
    byId("data-dialog").addEventListener("close", () => this.#reading?.abort());
  }

  #choose() {
    this.#tell("");
    ask("data-dialog");
  }

  /** Saves all of it as a file; while it comes, closing the dialog gives it up. */
  async #export() {
    if (this.#reading && !this.#reading.signal.aborted) return;
    const reading = new AbortController();
    this.#reading = reading;
    this.#take.setAttribute("aria-disabled", "true");
    this.#tell("Collecting…");
    try {
      const file = await this.#collected(reading.signal);
      save(file);
      this.#tell(`Saved ${sizeWords(file.size)} as ${FILE}.`);
    } catch (error) {
      if (!reading.signal.aborted) this.#tell(error.code === "cut" ? BROKEN_OFF : errorWords(error), true);
    } finally {
      reading.abort();
      if (this.#reading === reading) this.#take.removeAttribute("aria-disabled");
    }
  }

  /** The whole file; an export whose last line is not its end is none. */
  async #collected(signal) {
    const [pieces, ending] = [[], new Ending()];
    let size = 0;
    for await (const piece of exportMe(signal)) {
      pieces.push(piece);
      ending.push(piece);
      size += piece.length;
      this.#say(`Collecting… ${sizeWords(size)} so far.`);
    }
    if (!ending.isWhole) throw new ApiError({ code: "cut", retryable: true });
    return new Blob(pieces, { type: TYPE });
  }

  #say(words, failed = false) {
    this.#state.textContent = words;
    this.#state.classList.toggle("fault", failed);
  }

  /** Says it to those too who do not see it: beginning and end, not how much came meanwhile. */
  #tell(words, failed = false) {
    this.#say(words, failed);
    byId("export-spoken").textContent = words;
  }

  async #erase() {
    byId("data-dialog").close("");
    byId("erase-keys").hidden = key() === null;
    await ask("erase-dialog", { submit: (word) => this.#submit(word) });
  }

  /** An erasure goes on when its dialog is closed; that it came to its end is told all the same. */
  async #submit(word) {
    if (word.toLowerCase() !== WORD) throw new Error(`Please type the word ${WORD}.`);
    const gone = await this.#erased();
    stopAsking();
    byId("erase-dialog").close("taken");
    await ask("erased-dialog", { words: { gone: erasedWords(gone) } });
    this.#onErased();
  }

  /** Running answers are waited for, so that this may take some seconds. */
  async #erased() {
    const state = byId("erase-state");
    state.textContent = "Erasing…";
    try {
      return await eraseMe(WORD);
    } catch (error) {
      throw new Error(errorWords(error));
    } finally {
      state.textContent = "";
    }
  }
}

/** Has the browser save a file. */
function save(file) {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = FILE;
  link.click();
  // The browser reads it after this returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
