// The files of messages: small pictures and names, which open in a dialog.

import { render } from "preact";

import { ApiError, requestText } from "../api/client.ts";
import { fetchWithKey } from "../api/transport.ts";
import type { Attachment } from "../api/types.ts";
import { sizeText } from "../i18n/index.ts";
import { showDialog } from "../view/dialog.ts";
import { button, el, link, saveFile } from "../view/dom.ts";
import { showError } from "../view/toast.ts";
import { openDocument, openPassage } from "./passage.ts";
import { readFile, showPicture, Thumb } from "./pictures.tsx";
import { texts } from "./texts.ts";

/** The lines that a button of a long text adds. */
const STEP = 400;

/** What the files in the messages have as data. */
type Named = Pick<Attachment, "id" | "name" | "kind">;

/** The lines or pages that are cited of a file; `last` is 0 without any. */
interface Cited {
  first: number;
  last: number;
}

const NOTHING = { first: 1, last: 0 };

/** Shows the files of a message in an element. */
export function showAttached(root: HTMLElement, files: Attachment[]): void {
  root.replaceChildren();
  render(<ul class="chips">{files.map((file) => <AttachedFile key={file.id} {...file} />)}</ul>, root);
}

function AttachedFile(file: Attachment) {
  const { id, name, kind, bytes } = file;
  return (
    <li class={kind}>
      <button type="button" aria-haspopup="dialog" data-attachment={id} data-name={name} data-kind={kind} onClick={() => void openFile(file, NOTHING)}>
        <Thumb {...file} />
        <span class="file-text">
          <span class="file-name" dir="auto">{name}</span>{" "}
          <small>{sizeText(bytes)}</small>
        </span>
      </button>
    </li>
  );
}

/** Opens what an answer refers to: a picture, lines or pages of a file of the conversation, else lines of a document. */
export function openCited(opener: HTMLElement): void {
  if (opener instanceof HTMLAnchorElement && !opener.href.startsWith("attachment:")) return void openPicture(opener.href, opener.textContent);
  const [, id, first = "1", last = first] = /^attachment:([^#]+)(?:#\w+=(\d+)(?:-(\d+))?)?$/.exec(opener.getAttribute("href") ?? "") ?? [];
  const { document: path = "", title: name = "", ...lines } = opener.dataset;
  const cited = id ? { first: Number(first), last: Number(last) } : { first: Number(lines.first), last: Number(lines.last) };
  const shown = [...document.querySelectorAll<HTMLElement>("#messages [data-attachment]")].filter(
    ({ dataset }) => (id ? dataset.attachment === id : dataset.name === path),
  );
  // A later message may have another file of the same name.
  const file = shown.findLast((node) => node.compareDocumentPosition(opener) & Node.DOCUMENT_POSITION_FOLLOWING) ?? shown[0];
  if (file) void openFile({ id: file.dataset.attachment ?? "", name: file.dataset.name ?? "", kind: file.dataset.kind as Named["kind"] }, cited);
  else if (id) void openFile({ id, name: name || opener.textContent, kind: "text" }, cited);
  else openDocument(path, cited.first, cited.last);
}

/** Shows a picture of another host, which the server reads: the page itself contacts no other host. */
async function openPicture(url: string, name: string): Promise<void> {
  const response = await fetchWithKey(`/api/pictures?url=${encodeURIComponent(url)}`, { method: "GET" }).catch(() => null);
  const image = el("img", { alt: name });
  if (response?.ok) showPicture(image, await response.blob());
  const body = response?.ok ? image : el("p", {}, texts.noPicture);
  showDialog({ id: "picture-dialog", title: name, body: [body], controls: [link(url, {}, texts.original)] });
}

async function openFile({ id, name, kind }: Named, cited: Cited): Promise<void> {
  const download = button(texts.download, () => void readFile(id).then((blob) => saveFile(blob, name), fail), { iconName: "download" });
  try {
    if (kind === "image") {
      const image = el("img", { alt: name });
      showPicture(image, await readFile(id));
      showDialog({ id: "picture-dialog", title: name, body: [image], controls: [download] });
    } else openText(await requestText(`/api/attachments/${id}/text`), name, cited, download);
  } catch (thrown) {
    fail(thrown);
  }
}

/** Opens a text, whose pages are separated by form feeds. */
function openText(text: string, title: string, cited: Cited, download: HTMLElement): void {
  const paged = text.includes("\f");
  const units = text.split(paged ? "\f" : "\n");
  if (units.at(-1)?.trim() === "" && units.length > 1) units.pop();
  const read = (first: number, last: number) => Promise.resolve(units.slice(first - 1, last));
  openPassage({ title, ...cited, paged, read, step: STEP, controls: [download] });
}

function fail(thrown: unknown): void {
  const error = ApiError.from(thrown);
  showError(error.status === 404 ? new ApiError({ code: "gone", message: texts.gone }) : error);
}
