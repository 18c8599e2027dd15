// The caller's own data: export as a file, or erase.

import { errorText, erasureText, sizeText } from "./answer/strings.ts";
import { ApiError, eraseAccount, exportAccount } from "./api/client.ts";
import { credential } from "./api/credential.ts";
import { disablePrompt } from "./api/key.ts";
import type { Erasure } from "./api/types.ts";
import { ExportCheck } from "./export-check.ts";
import { t } from "./i18n/index.ts";
import { openDialog, showDialog } from "./view/dialog.ts";
import { button, el } from "./view/dom.ts";

const FILE = "lambda-chat.jsonl";
const TYPE = "application/x-ndjson";

/** The confirmation that the user types and the page sends. */
const CONFIRMATION = "erase";

/** The sections for the caller's data, and a function that aborts a running export. */
export interface DataSections {
  nodes: HTMLElement[];
  abort: () => void;
}

/** Builds the sections; `close` closes their dialog, and `onErased` is called after a complete erasure. */
export function dataSections(onErased: () => void, close: () => void): DataSections {
  const exporter = new Exporter();
  const startErasing = () => {
    close();
    confirmErasure(onErased);
  };
  const erase = button(t.data.erase, startErasing, { iconName: "trash", kind: "risky" });
  const section = (title: string, text: string, ...children: Node[]) =>
    el("section", {}, el("h3", {}, title), el("p", {}, text), children);
  return {
    nodes: [
      section(t.data.exportTitle, t.data.exportText, exporter.button, exporter.state, exporter.announcer),
      section(t.data.eraseTitle, t.data.eraseText, erase),
    ],
    abort: () => exporter.abort(),
  };
}

/** The export: its button and its state. */
class Exporter {
  button = button(t.data.export, () => void this.#export(), { iconName: "down" });
  state = el("p", { class: "state", id: "export-state" });
  announcer = el("span", { class: "offscreen", role: "status" });
  #abort: AbortController | null = null;

  /** Aborts the export. */
  abort(): void {
    this.#abort?.abort();
  }

  /** Saves the export as a file. */
  async #export(): Promise<void> {
    if (this.#abort && !this.#abort.signal.aborted) return;
    const abort = new AbortController();
    this.#abort = abort;
    this.button.setAttribute("aria-disabled", "true");
    this.#announceState(t.data.collecting);
    try {
      const file = await this.#read(abort.signal);
      save(file);
      this.#announceState(t.data.saved(sizeText(file.size), FILE));
    } catch (thrown) {
      const error = ApiError.from(thrown);
      const text = error.code === "disconnected" ? t.data.incomplete : errorText(error);
      if (!abort.signal.aborted) this.#announceState(text, true);
    } finally {
      abort.abort();
      if (this.#abort === abort) this.button.removeAttribute("aria-disabled");
    }
  }

  /** Reads the whole export; throws if it is incomplete. */
  async #read(signal: AbortSignal): Promise<Blob> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    const check = new ExportCheck();
    let size = 0;
    for await (const chunk of exportAccount(signal)) {
      chunks.push(new Uint8Array(chunk));
      check.push(chunk);
      size += chunk.length;
      this.#showState(t.data.collected(sizeText(size)));
    }
    if (!check.isComplete) throw new ApiError({ code: "disconnected", retryable: true });
    return new Blob(chunks, { type: TYPE });
  }

  #showState(text: string, failed = false): void {
    this.state.textContent = text;
    this.state.classList.toggle("field-error", failed);
  }

  /** Shows a state and announces it to screen readers; the progress in between is not announced. */
  #announceState(text: string, failed = false): void {
    this.#showState(text, failed);
    this.announcer.textContent = text;
  }
}

function confirmErasure(onErased: () => void): void {
  const state = el("p", { class: "progress", role: "status" });
  const effects = [...t.data.effects, ...(credential() === null ? [] : [t.data.effectKeys]), t.data.effectBrowser];
  const dialog = showDialog({
    id: "erase-dialog",
    title: t.data.confirmTitle,
    body: [el("p", {}, t.data.confirmText), el("ul", {}, effects.map((effect) => el("li", {}, effect))), state],
    field: { label: t.data.confirmLabel(CONFIRMATION) },
    submit: { label: t.data.confirm, kind: "danger" },
    onSubmit: async (value) => {
      if (value.toLowerCase() !== CONFIRMATION) throw new Error(t.data.confirmError(CONFIRMATION));
      const counts = await erase(state);
      // Closing the dialog does not cancel the erasure; its result is shown anyway.
      disablePrompt();
      dialog.close();
      await showErased(counts);
      onErased();
    },
  });
}

/** Sends the request. The server waits for running answers, which may take some seconds. */
async function erase(state: HTMLElement): Promise<Erasure> {
  state.textContent = t.data.erasing;
  try {
    return await eraseAccount(CONFIRMATION);
  } catch (error) {
    throw new Error(errorText(ApiError.from(error)));
  } finally {
    state.textContent = "";
  }
}

async function showErased(counts: Erasure): Promise<void> {
  await openDialog({
    id: "erased-dialog",
    title: t.data.erasedTitle,
    body: [el("p", {}, erasureText(counts))],
    submit: { label: t.data.startOver },
    acknowledge: true,
  });
}

/** Downloads a file through a temporary link. */
function save(file: Blob): void {
  const url = URL.createObjectURL(file);
  const anchor = el("a", { href: url, download: FILE });
  anchor.click();
  // The browser reads the URL after this function returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
