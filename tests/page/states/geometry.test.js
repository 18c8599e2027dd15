// The boxes of the page in Chromium are where they were, on three screens, in both languages and themes.

import { test } from "node:test";

import "../support/fonts.js";
import { setUp } from "../support/fixture.js";
import { assertGeometry } from "../support/geometry.js";

test("the boxes of the page are where they were", { timeout: 600_000 }, async (t) => {
  const { page, ...stack } = await setUp(t, { context: { reducedMotion: "reduce" } });
  await assertGeometry(page, stack, { browser: "chromium", tolerance: 6, resize: (width, height) => page.setViewportSize({ width, height }) });
});
