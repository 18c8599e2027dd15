// Pictures reduced to cells, and their comparison, which a few pixels of difference do not change.

import assert from "node:assert/strict";

import { PNG } from "pngjs";

/** The side of a cell, in pixels. */
export const CELL = 10;

/** The greatest contrast in a cell that is kept: that of a text, whose exact value depends on single pixels. */
const CONTRAST = 96;

/** How far a cell may be from all around the kept one, of 255. Chromium 150 and 156 differ by 4, a lost line by 20. */
const TOLERANCE = 6;

/** How far its colour may be from that of the kept one: what an edge changes that moves by a pixel of the ten. */
const MOVED = 26;

/** How many cells of a picture may be farther from it, such as corners that a new browser draws. An icon has four. */
const PERMITTED = 3;

/** Reduces a picture: a cell has the mean colour of its pixels and, in place of opacity, 255 less their contrast. */
export function reduce({ width, height, data }) {
  const cells = new PNG({ width: Math.ceil(width / CELL), height: Math.ceil(height / CELL) });
  for (let at = 0; at < cells.data.length; at += 4) {
    const left = CELL * ((at / 4) % cells.width);
    const top = CELL * Math.floor(at / 4 / cells.width);
    cells.data.set(reduceCell(data, width, { left, top, right: Math.min(left + CELL, width), bottom: Math.min(top + CELL, height) }), at);
  }
  return cells;
}

function reduceCell(data, width, { left, top, right, bottom }) {
  const sums = [0, 0, 0];
  let [darkest, brightest] = [255, 0];
  for (let y = top; y < bottom; y += 1) {
    for (let at = 4 * (y * width + left); at < 4 * (y * width + right); at += 4) {
      const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
      sums[0] += red;
      sums[1] += green;
      sums[2] += blue;
      const brightness = (3 * red + 4 * green + blue) >> 3;
      if (brightness < darkest) darkest = brightness;
      if (brightness > brightest) brightest = brightness;
    }
  }
  const pixels = (right - left) * (bottom - top);
  return [...sums.map((sum) => Math.round(sum / pixels)), 255 - Math.min(brightest - darkest, CONTRAST)];
}

/**
 * The cells of two reduced pictures that differ: one of them has a value outside the range of that cell and the eight
 * around it in the other, or a colour far from that of the same cell. So a thin line may move into the next cell.
 */
export function differences(now, kept) {
  assert.deepEqual([now.width, now.height], [kept.width, kept.height], "the pictures have the same size");
  const [ranges, keptRanges] = [rangesOf(now), rangesOf(kept)];
  const found = [];
  for (let at = 0; at < now.data.length; at += 4) {
    let [by, moved] = [0, 0];
    for (let value = at; value < at + 4; value += 1) {
      by = Math.max(by, outside(now, keptRanges, value), outside(kept, ranges, value));
      if (value < at + 3) moved = Math.max(moved, Math.abs(now.data[value] - kept.data[value]));
    }
    if (by > TOLERANCE || moved > MOVED) found.push({ x: CELL * ((at / 4) % now.width), y: CELL * Math.floor(at / 4 / now.width), by: Math.max(by, moved) });
  }
  return found;
}

/** Whether a reduced picture is the kept one but for what differs between two drawings of the same. */
export const isSame = (now, kept) => differences(now, kept).length <= PERMITTED;

const outside = ({ data }, { low, high }, at) => Math.max(low[at] - data[at], data[at] - high[at]);

/** The lowest and the highest values of each cell and the eight around it. */
function rangesOf({ width, height, data }) {
  const [low, high] = [new Uint8Array(data), new Uint8Array(data)];
  // First those of three cells in a row, then those of three such rows.
  for (const [step, end] of [[4, 4 * width], [4 * width, data.length]]) {
    const [lows, highs] = [new Uint8Array(low), new Uint8Array(high)];
    for (let at = 0; at < data.length; at += 1) {
      for (const other of [at - step, at + step]) {
        if (other < 0 || Math.floor(other / end) !== Math.floor(at / end)) continue;
        low[at] = Math.min(low[at], lows[other]);
        high[at] = Math.max(high[at], highs[other]);
      }
    }
  }
  return { low, high };
}
