// The files in the message boxes by draft. The part `files` uploads and shows them.

import { signal, type Signal } from "@preact/signals";

import type { Attachment } from "../api/types.ts";

/** A file on its way to the server. */
export interface Upload {
  file: File;
  /** How much of it has been sent, from 0 to 1. */
  share: number;
  /** Why it failed; empty unless it did. */
  failure: string;
  abort: AbortController;
}

/** A file in a message box. */
export interface DraftFile extends Attachment {
  /** Missing once the server has the file. */
  upload?: Upload;
  /** Whether no message has the file, so that it is deleted with its draft. */
  unsent?: boolean;
  /** Whether only the beginning of its text is used. */
  truncated?: boolean;
}

/** The name of the draft of a conversation; null is the new conversation. */
export const draftName = (conversation: string | null) => `draft:${conversation ?? "new"}`;

/** The name of the open draft. */
export const openDraft = signal(draftName(null));

/** Why the files of the open draft cannot be sent yet; empty if they can. */
export const unready = signal("");

/** The files of all drafts. */
export const drafts = new Map<string, Signal<DraftFile[]>>();

/** The files of a draft, of which the browser stores those that are uploaded. */
export function filesOf(draft: string): Signal<DraftFile[]> {
  const known = drafts.get(draft);
  if (known) return known;
  const key = `files:${draft}`;
  const files = signal<DraftFile[]>(JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  drafts.set(draft, files);
  files.subscribe((list) => {
    const stored = list.filter(({ upload }) => !upload);
    if (stored.length > 0) sessionStorage.setItem(key, JSON.stringify(stored));
    else sessionStorage.removeItem(key);
  });
  return files;
}

/** Puts files before those of a draft. */
export function restoreFiles(draft: string, added: DraftFile[]): void {
  filesOf(draft).value = [...added, ...filesOf(draft).peek()];
}

/** Removes and returns the files of a draft. */
export function takeFiles(draft: string): DraftFile[] {
  const taken = filesOf(draft).peek();
  filesOf(draft).value = [];
  return taken;
}
