// The dialog to import conversations: the page's own files, and ChatGPT's conversations.json.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { failureText } from "../view/failures.ts";
import { t } from "../i18n/index.ts";
import { refreshList } from "../state/lists.ts";
import { Button } from "../view/controls.tsx";
import { showDialog } from "../view/dialog.ts";
import { FileError, Import } from "./import-run.ts";
import { Status } from "./status.tsx";
import { texts } from "./texts.ts";

const codeText = (code: string) => (Object.hasOwn(t.errors, code) ? t.errors[code as keyof typeof t.errors] : code);

/** Opens the dialog. */
export function openImport(): void {
  showDialog({ id: "import-dialog", title: texts.import.title, content: <ImportContent /> });
}

function ImportContent() {
  const file = useSignal<File | undefined>(undefined);
  /** The import of the chosen file, which continues after an interruption. */
  const current = useSignal<Import | null>(null);
  const progress = useSignal<{ value?: number; max?: number } | null>(null);
  const [status, failure] = [useSignal(""), useSignal("")];
  useEffect(() => () => current.value?.stop(), []);
  const choose = (chosen: File | undefined) => {
    [file.value, current.value, status.value, failure.value] = [chosen, null, "", ""];
  };
  const run = async () => {
    [progress.value, failure.value, status.value] = [{}, "", texts.import.reading];
    try {
      current.value ??= await Import.open(file.value);
      await current.value.run((value, max) => {
        progress.value = { value, max };
        status.value = texts.import.progress(value, max);
      });
    } catch (thrown) {
      failure.value = thrown instanceof FileError ? thrown.message : texts.import.stopped(failureText(thrown));
    }
    progress.value = null;
    status.value = current.value ? texts.import.imported(current.value.imported) : "";
    if (current.value && current.value.imported > 0) void refreshList();
    // What cannot be read does not become readable.
    else if (!current.value) file.value = undefined;
  };
  const isDone = current.value?.complete ?? false;
  return (
    <>
      <p class="hint">{texts.import.text}</p>
      <label for="import-file">{texts.import.file}</label>
      <input
        type="file"
        id="import-file"
        accept=".json,application/json"
        disabled={progress.value !== null}
        onChange={({ currentTarget }) => choose(currentTarget.files?.[0])}
      />
      <div class="row">
        <Button kind="primary" disabled={!file.value || progress.value !== null || isDone} onClick={() => void run()}>
          {current.value && !isDone && progress.value === null ? texts.import.continue : texts.import.start}
        </Button>
      </div>
      <progress aria-label={texts.import.title} hidden={progress.value === null} {...progress.value} />
      <Status text={status.value} failure={failure.value} />
      <div class="import-result">{current.value && progress.value === null && <SkippedList skipped={current.value.skipped} />}</div>
    </>
  );
}

/** What was not imported, and why. */
function SkippedList({ skipped }: Pick<Import, "skipped">) {
  if (skipped.length === 0) return null;
  return (
    <>
      <p>{texts.import.skipped(skipped.length)}</p>
      <ul>
        {skipped.map(({ index, title, reason }) => (
          <li key={index}>
            <strong dir="auto">{title || texts.import.item(index + 1)}</strong>
            {` · ${codeText(reason)}`}
          </li>
        ))}
      </ul>
    </>
  );
}
