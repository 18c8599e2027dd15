// The dialog to export a conversation: as Markdown, as JSON, or on paper.

import { useSignal } from "@preact/signals";

import { readConversation, requestText } from "../api/client.ts";
import { failureText } from "../view/failures.ts";
import type { Conversation, Message } from "../api/types.ts";
import { t } from "../i18n/index.ts";
import { Button } from "../view/controls.tsx";
import { showDialog } from "../view/dialog.ts";
import { el, saveFile, type IconName } from "../view/dom.ts";
import { showMessages } from "./read-only.ts";
import { Status } from "./status.tsx";
import { texts } from "./texts.ts";

/** The longest wait for formulas before printing, in milliseconds. */
const RENDER_TIMEOUT_MS = 3000;

/** Opens the dialog. */
export function openExport(conversation: Pick<Conversation, "id" | "title">): void {
  const content = <ExportContent {...conversation} close={() => dialog.close()} />;
  const dialog = showDialog({ id: "export-dialog", title: texts.export.title, content });
}

function ExportContent({ id, title, close }: Pick<Conversation, "id" | "title"> & { close: () => void }) {
  const [status, failure, running] = [useSignal(""), useSignal(""), useSignal("")];
  const name = fileName(title || t.untitled);
  const save = (format: string, type: string, file: string) => async () => {
    const text = await requestText(`/api/conversations/${encodeURIComponent(id)}/export?format=${format}`);
    saveFile(new Blob([text], { type }), file);
    status.value = texts.export.saved(file);
  };
  const print = async () => {
    const messages = await readMessages(id);
    close();
    await printMessages(title || t.untitled, messages);
  };
  const row = (label: string, text: string, icon: IconName, act: () => Promise<void>) => {
    const run = async () => {
      if (running.value === label) return;
      [failure.value, status.value, running.value] = ["", "", label];
      await act().catch((thrown: unknown) => (failure.value = failureText(thrown)));
      running.value = "";
    };
    return (
      <div class="export-row">
        <Button icon={icon} aria-disabled={running.value === label || undefined} onClick={() => void run()}>{label}</Button>
        <p class="hint">{text}</p>
      </div>
    );
  };
  return (
    <>
      <p class="share-title" dir="auto">{title || t.untitled}</p>
      {row(texts.export.markdown, texts.export.markdownText, "download", save("markdown", "text/markdown", `${name}.md`))}
      {row(texts.export.json, texts.export.jsonText, "data", save("json", "application/json", `${name}.json`))}
      {row(texts.export.print, texts.export.printText, "copy", print)}
      <Status text={status.value} failure={failure.value} />
    </>
  );
}

/** A file's name from a title, without characters that a file system forbids. */
export function fileName(title: string): string {
  const name = title.replace(/[\p{Cc}\p{Cf}\\/:*?"<>|]+/gu, " ").replace(/\s+/g, " ").trim().replace(/^\.+|\.+$/g, "");
  return Array.from(name).slice(0, 80).join("").trim() || "conversation";
}

/** All messages of the shown branch, which is read from its end. */
async function readMessages(id: string): Promise<Message[]> {
  let messages: Message[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readConversation>> = await readConversation(id, { cursor });
    messages = [...page.messages, ...messages];
    cursor = page.nextCursor;
  } while (cursor !== null);
  return messages;
}

/** Prints all messages of a conversation, also those that the page has not loaded. */
async function printMessages(title: string, messages: Message[]): Promise<void> {
  document.getElementById("print-copy")?.remove();
  const copy = el("div", { id: "print-copy" }, el("h1", {}, title));
  showMessages(copy, messages);
  document.body.append(copy);
  await rendered(copy);
  document.documentElement.classList.add("printing");
  const before = document.title;
  document.title = title;
  const end = () => {
    copy.remove();
    document.documentElement.classList.remove("printing");
    document.title = before;
  };
  window.addEventListener("afterprint", end, { once: true });
  window.print();
}

/** Resolves once the formulas of a root are rendered, or after a time. */
async function rendered(root: HTMLElement): Promise<void> {
  if (!root.querySelector(".math > code")) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      observer.disconnect();
      resolve();
    };
    const observer = new MutationObserver(() => {
      if (!root.querySelector(".math > code")) end();
    });
    observer.observe(root, { childList: true, subtree: true });
    const timer = setTimeout(end, RENDER_TIMEOUT_MS);
  });
}
