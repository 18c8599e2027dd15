// The caller's own data: import, export as a file, or erase.

import { signal, useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { ApiError } from "../api/client.ts";
import { credential } from "../api/credential.ts";
import { disablePrompt } from "../api/key.ts";
import { sizeText } from "../i18n/index.ts";
import { openImport } from "../parts/use.ts";
import { Button } from "../view/controls.tsx";
import { openDialog, showDialog } from "../view/dialog.ts";
import { saveFile } from "../view/dom.ts";
import { failureText } from "../view/failures.ts";
import { ExportCheck } from "./export-check.ts";
import { eraseAccount, erasureText, exportAccount } from "./own-data.ts";
import { Section } from "./section.tsx";
import { resetAll } from "./session.ts";
import { texts } from "./texts.ts";

const FILE = "lambda-chat.jsonl";
const TYPE = "application/x-ndjson";

/** The confirmation that the page sends; the user types that of the language. */
const CONFIRMATION = "erase";

/** The sections; `close` closes their dialog, which ends a running export. */
export function DataSections({ close }: { close: () => void }) {
  const leaveTo = (act: () => void) => () => {
    close();
    act();
  };
  return (
    <>
      <Section title={texts.data.importTitle}>
        <p>{texts.data.importText}</p>
        <Button icon="data" onClick={leaveTo(openImport)}>{texts.data.import}</Button>
      </Section>
      <Section title={texts.data.exportTitle}>
        <p>{texts.data.exportText}</p>
        <Exporter />
      </Section>
      <Section title={texts.data.eraseTitle}>
        <p>{texts.data.eraseText}</p>
        <Button icon="trash" kind="risky" onClick={leaveTo(confirmErasure)}>{texts.data.erase}</Button>
      </Section>
    </>
  );
}

/** The export: its button and its state. The progress is not announced to screen readers, its start and end are. */
function Exporter() {
  const running = useSignal<AbortController | null>(null);
  const state = useSignal({ text: "", failed: false });
  const announcement = useSignal("");
  useEffect(() => () => running.value?.abort(), []);
  const announce = (text: string, failed = false) => {
    state.value = { text, failed };
    announcement.value = text;
  };
  const run = async () => {
    if (running.value) return;
    running.value = new AbortController();
    const { signal: aborted } = running.value;
    announce(texts.data.collecting);
    try {
      const file = await readExport(aborted, (size) => (state.value = { text: texts.data.collected(sizeText(size)), failed: false }));
      saveFile(file, FILE);
      announce(texts.data.saved(sizeText(file.size), FILE));
    } catch (thrown) {
      if (!aborted.aborted) announce(Object(thrown).code === "disconnected" ? texts.data.incomplete : failureText(thrown), true);
    }
    running.value = null;
  };
  return (
    <>
      <Button icon="download" aria-disabled={running.value ? true : undefined} onClick={() => void run()}>{texts.data.export}</Button>
      <p class={`state${state.value.failed ? " field-error" : ""}`} id="export-state">{state.value.text}</p>
      <span class="offscreen" role="status">{announcement}</span>
    </>
  );
}

/** Reads the whole export; throws if it is incomplete. */
async function readExport(aborted: AbortSignal, onProgress: (size: number) => void): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const check = new ExportCheck();
  let size = 0;
  for await (const chunk of exportAccount(aborted)) {
    chunks.push(new Uint8Array(chunk));
    check.push(chunk);
    size += chunk.length;
    onProgress(size);
  }
  if (!check.isComplete) throw new ApiError({ code: "disconnected", retryable: true });
  return new Blob(chunks, { type: TYPE });
}

function Effects({ progress }: { progress: Signal<string> }) {
  const effects = [...texts.data.effects, ...(credential() === null ? [] : [texts.data.effectKeys]), texts.data.effectBrowser];
  return (
    <>
      <p>{texts.data.confirmText}</p>
      <ul>{effects.map((effect) => <li key={effect}>{effect}</li>)}</ul>
      <p class="progress" role="status">{progress}</p>
    </>
  );
}

function confirmErasure(): void {
  const progress = signal("");
  const dialog = showDialog({
    id: "erase-dialog",
    title: texts.data.confirmTitle,
    content: <Effects progress={progress} />,
    field: { label: texts.data.confirmLabel(texts.data.confirmation) },
    submit: { label: texts.data.confirm, kind: "danger" },
    onSubmit: async (value) => {
      if (value.toLowerCase() !== texts.data.confirmation) throw new Error(texts.data.confirmError(texts.data.confirmation));
      progress.value = texts.data.erasing;
      // The server waits for running answers, which may take some seconds.
      const counts = await eraseAccount(CONFIRMATION).finally(() => (progress.value = ""));
      // Closing the dialog does not cancel the erasure; its result is shown anyway.
      disablePrompt();
      dialog.close();
      await openDialog({
        id: "erased-dialog",
        title: texts.data.erasedTitle,
        content: <p>{erasureText(counts)}</p>,
        submit: { label: texts.data.startOver },
        acknowledge: true,
      });
      resetAll();
    },
  });
}
