// A part of the page: the files of messages, and the passages of files and documents that answers cite.

import { showDrafts } from "../files/draft.tsx";
import { addStyle } from "../view/dom.ts";

declare const STYLE: string;

addStyle(STYLE);
if (document.getElementById("files")) showDrafts();

export { openCited, showAttached } from "../files/attached.tsx";
export { attachFiles } from "../files/draft.tsx";
