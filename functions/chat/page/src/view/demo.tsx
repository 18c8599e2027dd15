// The note of the demo, with a button that cuts the connection of the running answer.

import { signal } from "@preact/signals";

import { openStream, resumption } from "../api/events.ts";
import { formatNumber, t } from "../i18n/index.ts";
import { openGuide } from "../parts/use.ts";
import { isDemo } from "../state/choice.ts";
import { Button } from "./controls.tsx";

/** The time before the answer continues, in which the user sees that it is cut. */
const PAUSE_MS = 1500;

/** What happened to the answer since the last cut, until the next one begins. */
const outcome = signal("");

/** Closes the connection as a lost network would; the page resumes the answer by itself, after a pause. */
function cut(): void {
  const stream = openStream.peek();
  const written = [...document.querySelectorAll(".answer .prose")].at(-1)?.textContent ?? "";
  const position = formatNumber(written.length);
  let last = stream;
  const stop = openStream.subscribe((next) => {
    if (next === null || next === last) return;
    resumption.pauseMs = 0;
    outcome.value = last === stream ? t.demo.resumed(position) : "";
    if (last !== stream) stop();
    last = next;
  });
  resumption.pauseMs = PAUSE_MS;
  outcome.value = t.demo.cutAt(position);
  void stream?.cancel();
}

/** The note below the message box. */
export function DemoNote() {
  return (
    <p id="demo" hidden={!isDemo.value}>
      <strong>{t.demo.name}</strong><span role="status">{outcome.value || t.demo.text}</span>{" "}
      {openStream.value && <Button id="demo-cut" kind="text" onClick={cut}>{t.demo.cut}</Button>}
      {!openStream.value && resumption.pauseMs === 0 && <Button id="demo-more" kind="text" onClick={openGuide}>{t.demo.more}</Button>}
    </p>
  );
}
