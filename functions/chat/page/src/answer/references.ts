// What the answers of one conversation can refer to.

import type { Source } from "../api/types.ts";

const DOCUMENT_TOOLS = new Set(["grep_search", "glob_search", "read_file", "list_directory"]);

/** The sources and the documents of one conversation. */
export class References {
  /** The sources of all answers by number. */
  readonly sources = new Map<number, Source>();
  /** The names of the files of messages. */
  readonly files = new Set<string>();
  /** Whether a tool has read documents. */
  #hasDocuments = false;

  /** Records a call of a tool. */
  noteCall(tool: string): void {
    if (DOCUMENT_TOOLS.has(tool)) this.#hasDocuments = true;
  }

  /** Whether a path can be a document or a file, so that `a.md:1` is a reference. */
  isDocument(path: string): boolean {
    return this.#hasDocuments || this.files.has(path);
  }
}
