// A part of the page: the palette, the dialogs to rename, delete, share, export and import, follow-up questions, and the
// page of a shared copy.

import { addStyle } from "../view/dom.ts";

declare const STYLE: string;

addStyle(STYLE);

export { showCallDetails } from "../library/call-details.ts";
export { confirmDeletion, removeConversation, renameConversation } from "../library/changes.ts";
export { DemoNote } from "../library/demo.tsx";
export { openExport } from "../library/export.tsx";
export { showFollowUps } from "../library/follow-ups.ts";
export { openImport } from "../library/import.tsx";
export { openPalette } from "../library/palette.tsx";
export { openShare } from "../library/share.tsx";
export { showShared } from "../library/shared.tsx";
export { openShortcuts } from "../library/shortcuts.tsx";
