// The note of the demo, with a button that cuts the connection of the running answer.

import { signal } from "@preact/signals";

import { openStreams, pauseMs } from "../api/events.ts";
import { formatNumber, t } from "../i18n/index.ts";
import { openGuide } from "../parts/use.ts";
import { marks } from "../state/lists.ts";
import { openId } from "../state/open.ts";
import { Button } from "../view/controls.tsx";
import { byId } from "../view/dom.ts";
import { texts } from "./texts.ts";

/** The time before the answer continues, in which the user sees that it is cut. */
const PAUSE_MS = 1500;

/** Where the last answer was cut, and its conversation. */
let position = "";
let cutIn = "";

/** Whether the answer continued after the last cut, until the next one begins. */
const isResumed = signal(false);

let known: unknown;

openStreams.subscribe((streams) => {
  const next = streams.get(cutIn);
  if (!next || next === known) return;
  known = next;
  isResumed.value = pauseMs.value > 0;
  pauseMs.value = 0;
});

/** Closes the connection as a lost network would; the page resumes the answer by itself, after a pause. */
function cut(): void {
  const id = openId.peek() ?? "";
  const stream = openStreams.peek().get(id);
  if (!stream) return;
  position = formatNumber(document.querySelector("#messages > :last-child .prose:last-of-type")?.textContent.length ?? 0);
  [cutIn, known] = [id, stream];
  pauseMs.value = PAUSE_MS;
  isResumed.value = false;
  void stream.cancel();
  // The answer continues at its end.
  byId("jump").click();
}

/** The content of the note below the message box. */
export function DemoNote() {
  const isRunning = marks.value.get(openId.value) === "running";
  const isOpen = openStreams.value.has(openId.value ?? "");
  const note = cutIn === openId.value && (pauseMs.value ? texts.demo.cutAt(position) : isResumed.value && texts.demo.resumed(position));
  return (
    <>
      {!note && <strong>{texts.demo.name}</strong>}<span role="status">{note || texts.demo.text}</span>{" "}
      {isRunning && isOpen && <Button id="demo-cut" kind="text" onClick={cut}>{texts.demo.cut}</Button>}
      {!isRunning && <Button id="demo-more" kind="text" onClick={openGuide}>{t.demo.more}</Button>}
    </>
  );
}
