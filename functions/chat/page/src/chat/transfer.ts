// Files that are dropped on the page, or pasted.

import { attachFiles } from "../parts/use.ts";
import { takesFiles } from "../state/choice.ts";
import { byId } from "../view/dom.ts";

/** Receives files, and marks the message box while some are dragged over the page. */
export function wireTransfers(): void {
  for (const type of ["dragover", "dragleave", "drop", "paste"] as const) document.addEventListener(type, receive);
}

function receive(event: DragEvent | ClipboardEvent): void {
  const data = event instanceof DragEvent ? event.dataTransfer : event.clipboardData;
  const types = data?.types ?? [];
  // Leaving an element for another one is no end. A copied text may come with a picture of it.
  const passes = event.type === "dragleave" ? (event as DragEvent).relatedTarget : event.type === "paste" && types.includes("text/plain");
  if (passes || !takesFiles.value || !types.includes("Files") || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  const isOver = event.type === "dragover";
  byId("composer").toggleAttribute("data-target", isOver);
  if (data?.files.length && !isOver) attachFiles([...data.files]);
}
