// What the answers of one conversation can refer to.

import type { Source } from "../api/types.ts";

const DOCUMENT_TOOLS = new Set(["grep_search", "glob_search", "read_file", "list_directory"]);

/** The sources and the documents of one conversation. */
export class References {
  /** The sources of all answers by number. */
  readonly sources = new Map<number, Source>();
  /** Whether a tool has read documents, so that `a.md:1` is a reference. */
  hasDocuments = false;

  /** Records a call of a tool. */
  noteCall(tool: string): void {
    if (DOCUMENT_TOOLS.has(tool)) this.hasDocuments = true;
  }
}
