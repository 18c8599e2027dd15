// The comparison of pictures sees what a user would, and not what differs between two drawings of the same.

import assert from "node:assert/strict";
import { test } from "node:test";

import { PNG } from "pngjs";

import { differences, isSame, reduce } from "../support/cells.js";

const [GROUND, TEXT, ACCENT, LINE, DARK] = [[253, 253, 252], [29, 32, 33], [15, 118, 110], [226, 226, 220], [22, 24, 25]];

/** A drawn page: a button, an icon, a line and strokes for a text; `changed` has other values of it. */
function draw(changed = {}) {
  const { accent, left, icon, line, ground, noise } = { accent: ACCENT, left: 40, icon: TEXT, line: LINE, ground: GROUND, noise: () => 0, ...changed };
  const picture = new PNG({ width: 320, height: 204 });
  const fill = (color, x, y, width, height) => {
    for (let row = y; row < y + height; row += 1) {
      for (let column = x; column < x + width; column += 1) picture.data.set([...color, 255], 4 * (row * picture.width + column));
    }
  };
  fill(ground, 0, 0, 320, 204);
  fill(accent, left, 13, 70, 36);
  fill(icon, 222, 23, 16, 2);
  fill(icon, 222, 32, 16, 2);
  fill(line, 20, 104, 280, 1);
  // Vertical strokes, whose edges are half covered.
  for (let x = 22; x < 240; x += 7) {
    fill(TEXT, x, 76, 1, 12);
    fill(TEXT.map((value) => value + 110 + noise(x)), x + 1, 76, 1, 12);
  }
  return picture;
}

const cells = (changed) => reduce(draw(changed));

test("a picture equals itself", () => {
  assert.deepEqual(differences(cells(), cells()), []);
});

test("other antialiasing is no difference", () => {
  const other = cells({ noise: (x) => (x % 2 ? 40 : -40) });
  assert.ok(!other.data.equals(cells().data));
  assert.ok(isSame(other, cells()));
  assert.ok(isSame(cells({ left: 41 }), cells()), "a pixel to the right");
});

test("a changed picture is different", () => {
  const changes = {
    "a slightly other colour of a button": { accent: [15, 118, 120] },
    "a button that is 20 pixels to the right": { left: 60 },
    "a button that is 4 pixels to the right": { left: 44 },
    "no button": { accent: GROUND },
    "no icon": { icon: GROUND },
    "no line": { line: GROUND },
    "a dark ground": { ground: DARK },
  };
  for (const [name, changed] of Object.entries(changes)) assert.ok(!isSame(cells(changed), cells()), name);
});

test("a difference has its place and amount", () => {
  const found = differences(cells({ accent: GROUND }), cells());
  assert.deepEqual([found[0].x, found[0].y], [40, 10]);
  assert.deepEqual([found.at(-1).x, found.at(-1).y], [100, 40]);
  assert.ok(found.every(({ by }) => by > 6 && by < 256));
});

test("pictures of other sizes are not compared", () => {
  const small = reduce(new PNG({ width: 100, height: 100 }));
  assert.throws(() => differences(small, cells()), /same size/);
});
