// The boxes of the page in Firefox are where they are in Chromium.

import { test } from "node:test";

import { FONTS } from "../support/fonts.js";
import { setUp } from "../support/firefox.js";
import { assertGeometry } from "../support/geometry.js";

test("the boxes of the page are those of Chromium", { timeout: 600_000 }, async (t) => {
  // A mouse, as in the other browser: without one its buttons have the size for touch.
  const preferences = { "widget.gtk.overlay-scrollbars.enabled": false, "ui.primaryPointerCapabilities": 6, "ui.allPointerCapabilities": 6, "ui.prefersReducedMotion": 1, "security.sandbox.content.read_path_whitelist": FONTS };
  const { page, ...stack } = await setUp(t, { preferences });
  // Its scroll bars take space.
  await assertGeometry(page, stack, { browser: "firefox", tolerance: 16, resize: (width, height) => page.setViewport({ width, height }) });
});
