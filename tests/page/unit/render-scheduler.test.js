// The intervals of rendering while an answer streams, with a clock of the test's own.

import assert from "node:assert/strict";
import { test } from "node:test";

import { RenderScheduler } from "../../../functions/chat/page/src/answer/render-scheduler.ts";

/** Renders an answer that grows all the time, on a screen of 60 Hz, where a run takes this long. Returns the times of the runs. */
function times(t, { runMs, forMs }) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  let frames = [];
  t.mock.method(performance, "now", () => now);
  globalThis.requestAnimationFrame = (run) => frames.push(run);
  globalThis.cancelAnimationFrame = () => (frames = []);
  const runs = [];
  const scheduler = new RenderScheduler(() => {
    runs.push(now);
    now += runMs;
  });
  let frameAt = 16;
  let ticked = 0;
  const tick = () => {
    t.mock.timers.tick(now - ticked);
    ticked = now;
  };
  while (now < forMs) {
    scheduler.request();
    now += 1;
    tick();
    if (now < frameAt) continue;
    const due = frames;
    frames = [];
    for (const run of due) run();
    tick();
    frameAt = (Math.floor(now / 16) + 1) * 16;
  }
  scheduler.cancel();
  return runs;
}

test("a quick rendering is repeated in every second frame", (t) => {
  const runs = times(t, { runMs: 2, forMs: 481 });
  assert.deepEqual(runs, Array.from({ length: 15 }, (_, n) => runs[0] + 32 * n));
});

test("a slow rendering takes at most a fifth of the time", (t) => {
  const runs = times(t, { runMs: 60, forMs: 6000 });
  assert.ok(runs.length >= 15 && runs.length <= 20, `${runs.length}`);
});
