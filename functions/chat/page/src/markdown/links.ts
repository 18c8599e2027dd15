// Link targets: which URLs are safe, and where a bare URL in a text ends. Pure, but for the demo's pages.

import { rootUrl } from "../parts/load.ts";

const ALLOWED = new Set(["http:", "https:", "mailto:"]);

/** The site of the demo's pages, which each server has itself. The name is reserved (RFC 2606, section 2). */
const DEMO_SITE = "https://lambda-chat.example/";

const BARE = /(?:https?:\/\/|www\.(?=[a-z0-9-]+\.))[^\s<>"`|\\^{}]+|[\w.+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi;
const TRAILING = ".,;:!?'\"*_~";
const CLOSING: Record<string, string> = { ")": "(", "]": "[" };
const WIDE =
  /[\u1100-\u11FF\u2E80-\u30FF\u3130-\u318F\u31A0-\uA4CF\uAC00-\uD7AF\uF900-\uFAFF\uFE30-\uFE4F\uFF00-\uFFEF\u{20000}-\u{3FFFF}]/u;

/** A bare link in a text. */
export interface BareLink {
  start: number;
  end: number;
  href: string;
}

/** Whether a character is Chinese, Japanese or Korean script or punctuation. */
export function isWide(char: string): boolean {
  return WIDE.test(char);
}

/** The normalised URL, or null; only absolute http, https and mailto URLs are safe. */
export function safeHref(target: string): string | null {
  try {
    const url = new URL(target);
    if (!ALLOWED.has(url.protocol)) return null;
    return url.href.startsWith(DEMO_SITE) ? new URL(`demo${url.pathname}`, rootUrl()).href : url.href;
  } catch {
    return null;
  }
}

/** The URL of a source: a safe one, or a passage of a file (`attachment:ID#page=3`), which the page itself opens. */
export function sourceHref(target: string): string | null {
  return /^attachment:[\w-]+(#(page|line)=\d+(-\d+)?)?$/.test(target) ? target : safeHref(target);
}

/**
 * The bare links of a text: URLs, `www.` names and e-mail addresses.
 *
 * A URL ends before white space, before Chinese, Japanese or Korean text (which has no spaces), and before the
 * punctuation of its sentence.
 */
export function bareLinks(text: string): BareLink[] {
  const links: BareLink[] = [];
  for (const { 0: found, index } of text.matchAll(BARE)) {
    const before = text[index - 1] ?? "";
    if (/[\p{L}\p{N}/]/u.test(before) && !isWide(before)) continue;
    const shown = withoutPunctuation(beforeWide(found));
    const href = safeHref(withScheme(shown));
    if (href && shown.length > 4) links.push({ start: index, end: index + shown.length, href });
  }
  return links;
}

function withScheme(shown: string): string {
  if (/^https?:/i.test(shown)) return shown;
  return /^www\./i.test(shown) ? `https://${shown}` : `mailto:${shown}`;
}

function beforeWide(url: string): string {
  const end = url.search(WIDE);
  return end < 0 ? url : url.slice(0, end);
}

function withoutPunctuation(url: string): string {
  const excess: Record<string, number> = {
    ")": count(url, ")") - count(url, "("),
    "]": count(url, "]") - count(url, "["),
  };
  let end = url.length;
  for (; end > 0; end -= 1) {
    const last = url[end - 1] ?? "";
    if (last in CLOSING && (excess[last] ?? 0) > 0) excess[last] = (excess[last] ?? 0) - 1;
    else if (!TRAILING.includes(last)) break;
  }
  return url.slice(0, end);
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
}
