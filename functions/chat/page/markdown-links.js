// Link targets: which URLs are safe, and where a bare URL in a text ends. Pure.

import { isWide } from "./markdown-emphasis.js";

const ALLOWED = new Set(["http:", "https:", "mailto:"]);
const BARE = /https?:\/\/[^\s<>"`|\\^{}]+/iy;
const TRAILING = ".,;:!?'\"*_~";
const CLOSING = { ")": "(", "]": "[" };

/** The normalised URL, or null; only absolute http, https and mailto URLs are safe. */
export function safeHref(target) {
  try {
    const url = new URL(target);
    return ALLOWED.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * The bare URL that starts at `at`, or null.
 *
 * It ends before white space, before Chinese, Japanese or Korean text (which has no spaces), and before the punctuation
 * of its sentence.
 */
export function bareUrl(text, at) {
  if (at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1]) && !isWide(text[at - 1])) return null;
  BARE.lastIndex = at;
  const found = BARE.exec(text)?.[0];
  return found ? withoutPunctuation(beforeWide(found)) : null;
}

function beforeWide(url) {
  for (let at = 0; at < url.length; at += 1) if (isWide(url[at])) return url.slice(0, at);
  return url;
}

function withoutPunctuation(url) {
  const excess = { ")": count(url, ")") - count(url, "("), "]": count(url, "]") - count(url, "[") };
  let end = url.length;
  for (; end > 0; end -= 1) {
    const last = url[end - 1];
    if (last in CLOSING && excess[last] > 0) excess[last] -= 1;
    else if (!TRAILING.includes(last)) break;
  }
  return url.slice(0, end);
}

function count(text, char) {
  return text.split(char).length - 1;
}
