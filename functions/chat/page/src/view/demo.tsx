// The note of the demo, with a button that cuts the connection of the running answer.

import { signal } from "@preact/signals";

import { openStream, pauseMs } from "../api/events.ts";
import { formatNumber, t } from "../i18n/index.ts";
import { openGuide } from "../parts/use.ts";
import { isDemo } from "../state/choice.ts";
import { Button } from "./controls.tsx";

/** The time before the answer continues, in which the user sees that it is cut. */
const PAUSE_MS = 1500;

/** Where the last answer was cut. */
let position = "";

/** Whether the answer continued after the last cut, until the next one begins. */
const isResumed = signal(false);

openStream.subscribe((next) => {
  if (next === null) return;
  isResumed.value = pauseMs.value > 0;
  pauseMs.value = 0;
});

/** Closes the connection as a lost network would; the page resumes the answer by itself, after a pause. */
function cut(): void {
  const stream = openStream.value;
  if (stream === null) return;
  position = formatNumber(document.querySelector("#messages > :last-child .prose:last-of-type")?.textContent.length ?? 0);
  pauseMs.value = PAUSE_MS;
  isResumed.value = false;
  void stream.cancel();
}

/** The note below the message box. */
export function DemoNote() {
  return (
    <p id="demo" hidden={!isDemo.value}>
      <strong>{t.demo.name}</strong><span role="status">{pauseMs.value ? t.demo.cutAt(position) : isResumed.value ? t.demo.resumed(position) : t.demo.text}</span>{" "}
      {openStream.value && <Button id="demo-cut" kind="text" onClick={cut}>{t.demo.cut}</Button>}
      {!openStream.value && !pauseMs.value && <Button id="demo-more" kind="text" onClick={openGuide}>{t.demo.more}</Button>}
    </p>
  );
}
