// The files of the message box: their upload, one after the other, and a chip for each.

import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { ApiError } from "../api/client.ts";
import { formatNumber, sizeText } from "../i18n/index.ts";
import { model, modelLabel, models } from "../state/choice.ts";
import { drafts, filesOf, openDraft, unready, type DraftFile } from "../state/files.ts";
import { IconButton } from "../view/controls.tsx";
import { announce, byId } from "../view/dom.ts";
import { failureText } from "../view/failures.ts";
import { showError } from "../view/toast.ts";
import { sentFiles, Thumb } from "./pictures.tsx";
import { reduce } from "./reduce.ts";
import { texts } from "./texts.ts";
import { discard, upload } from "./upload.ts";

/** The server's limit of a message. */
const MAX_FILES = 10;

let queue = Promise.resolve();
let count = 0;

/** Adds files to the open draft, and sends them. */
export function attachFiles(added: File[]): void {
  const files = filesOf(openDraft.peek());
  const taken = added.slice(0, Math.max(0, MAX_FILES - files.peek().length));
  if (taken.length < added.length) showError(new ApiError({ code: "too_many_files", message: texts.tooMany(MAX_FILES) }));
  const drafted = taken.map(draftOf);
  files.value = [...files.peek(), ...drafted];
  for (const { id } of drafted) enqueue(id);
}

function draftOf(file: File): DraftFile {
  const kind = file.type.startsWith("image/") && !file.type.startsWith("image/svg") ? "image" : "text";
  const upload = { file, share: 0, failure: "", abort: new AbortController() };
  return { id: `upload-${(count += 1)}`, name: file.name, type: file.type, bytes: file.size, kind, unsent: true, upload };
}

/** Sends a file after those before it. */
function enqueue(id: string): void {
  queue = queue.then(() => send(id));
}

const find = (id: string) => [...drafts.values()].flatMap((files) => files.peek()).find((file) => file.id === id);

/** Replaces a file in its draft, which may not be the open one any more, or removes it. */
function replace(id: string, ...changed: DraftFile[]): void {
  for (const files of drafts.values()) {
    if (files.peek().some((file) => file.id === id)) files.value = files.peek().flatMap((file) => (file.id === id ? changed : file));
  }
}

async function send(id: string): Promise<void> {
  const draft = find(id);
  if (!draft?.upload) return;
  const { upload: state, ...rest } = draft;
  const { signal } = state.abort;
  try {
    const file = await reduce(state.file);
    const onShare = (share: number) => replace(id, { ...draft, upload: { ...state, share } });
    const { id: stored, name, type, bytes, kind, truncated = false } = await upload(file, { onShare, signal });
    if (signal.aborted) return discard(stored);
    sentFiles.set(stored, file);
    replace(id, { ...rest, id: stored, name, type, bytes, kind, truncated });
    announce(texts.attached(name));
  } catch (thrown) {
    if (signal.aborted) return;
    const failure = Object(thrown).code === "too_large" ? texts.tooLarge : failureText(thrown);
    replace(id, { ...draft, upload: { ...state, share: 0, failure } });
    announce(texts.failed(draft.name, failure));
  }
}

function retry(draft: DraftFile): void {
  if (!draft.upload) return;
  replace(draft.id, { ...draft, upload: { ...draft.upload, failure: "" } });
  enqueue(draft.id);
}

/** Removes a file; the server's copy too, unless a message has it. */
function remove({ id, upload: state, unsent }: DraftFile): void {
  state?.abort.abort();
  replace(id);
  if (!state && unsent) discard(id);
  if (window.matchMedia("(pointer: fine)").matches) byId("message").focus();
}

function Chip(draft: DraftFile) {
  const { name, bytes, truncated, upload: state } = draft;
  const failure = state?.failure ?? "";
  const share = state?.share ?? 1;
  const progress = share < 1 ? texts.sending(`${formatNumber(Math.round(share * 100))}%`) : texts.reading;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => row.current?.scrollIntoView({ block: "nearest" }), [failure]);
  return (
    <li class={failure ? "failed" : undefined} ref={row}>
      <Thumb {...draft} file={state?.file ?? sentFiles.get(draft.id)} />
      <div class="file-text">
        <span class="file-name" title={name} dir="auto">{name}</span>
        <small>{failure || (state ? progress : [sizeText(bytes), truncated && texts.truncated].filter(Boolean).join(" · "))}</small>
        {state && !failure && <progress aria-label={texts.progress(name)} {...(share < 1 && { value: share })} />}
      </div>
      {failure && <IconButton icon="reload" label={texts.retry(name)} onClick={() => retry(draft)} />}
      <IconButton icon="close" label={(state && !failure ? texts.cancel : texts.remove)(name)} onClick={() => remove(draft)} />
    </li>
  );
}

/** The chips, and a note if the model takes no pictures. */
function Chips() {
  const files = filesOf(openDraft.value).value;
  const takesNone = models.value.some(({ name, images }) => name === model.value && images === false);
  if (files.length === 0) return null;
  return (
    <>
      <ul class="chips" aria-label={texts.list}>{files.map((file) => <Chip key={file.id} {...file} />)}</ul>
      <p class="chips-note" role="status">{takesNone && files.some(({ kind }) => kind === "image") ? texts.noImages(modelLabel(model.value)) : ""}</p>
    </>
  );
}

/** Shows the files of the open draft in the message box from now on. */
export function showDrafts(): void {
  render(<Chips />, byId("files"));
  effect(() => {
    const uploads = filesOf(openDraft.value).value.flatMap(({ upload: state }) => state ?? []);
    unready.value = uploads.some(({ failure }) => failure) ? texts.blocks : uploads.length > 0 ? texts.waits : "";
  });
}
