// The note of the demo, with a button that cuts the connection of the running answer.

import { signal } from "@preact/signals";

import { openStream } from "../api/events.ts";
import { formatNumber, t } from "../i18n/index.ts";
import { openGuide } from "../parts/use.ts";
import { isDemo } from "../state/choice.ts";
import { Button } from "./controls.tsx";

/** How the answer continued after the last cut, until the next one begins. */
const outcome = signal("");

/** Closes the connection as a lost network would; the page resumes the answer by itself. */
function cut(): void {
  const stream = openStream.peek();
  const cutAt = performance.now();
  let last = stream;
  const stop = openStream.subscribe((next) => {
    if (next === null || next === last) return;
    outcome.value = last === stream ? t.demo.resumed(formatNumber(Math.ceil(performance.now() - cutAt))) : "";
    if (last !== stream) stop();
    last = next;
  });
  void stream?.cancel();
}

/** The note below the message box. */
export function DemoNote() {
  return (
    <p id="demo" hidden={!isDemo.value}>
      <strong>{t.demo.name}</strong><span role="status">{outcome.value || t.demo.text}</span>{" "}
      {openStream.value ? <Button id="demo-cut" kind="text" onClick={cut}>{t.demo.cut}</Button> : <Button id="demo-more" kind="text" onClick={openGuide}>{t.demo.more}</Button>}
    </p>
  );
}
