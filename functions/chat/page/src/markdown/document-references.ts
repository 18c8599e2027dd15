// References to lines of documents: `notes/plan.md:12` and `notes/plan.md:12-20`. Pure.

/** Lines of a document that a text cites, counted from 1. */
export interface DocumentReference {
  /** The path relative to the folder of documents. */
  path: string;
  first: number;
  last: number;
}

/** A reference and its position in a text. */
export interface FoundReference extends DocumentReference {
  start: number;
  end: number;
}

/** The extension of a file with its lines, and the column that some models add. */
const LINES = /\.([a-z][a-z0-9]{0,9}):(\d{1,7})(?:[-–](\d{1,7}))?(?::\d{1,5})?(?![a-z0-9_/]|[.:]\d)/gi;

/** A whole code span: a path, which may have spaces, and lines; of several ranges the first one counts. */
const CODE = /^(\S[^\n]{0,500}?\.([a-z][a-z0-9]{0,9})):(\d{1,7})(?:[-–](\d{1,7}))?(?:[:,、] ?\d{1,7}(?:[-–]\d{1,7})?)*$/i;

/** What ends a path in running text, seen from its extension. */
const BOUNDARY = /[\s<>"'`|\\^{}()[\]*:;,!?：；，。！？、（）【】《》「」『』“”‘’…]/;

/** No part of a path. */
const NOT_IN_PATH = /[<>"`|\\^{}*?:\n]/;

/** `example.com:8080` is a host with a port. */
const HOST_ENDINGS = new Set(["com", "net", "org", "io", "dev", "cn", "app", "ai", "local", "internal"]);

const MAX_PATH_LENGTH = 300;

/** The references in running text, in which a path has no spaces. */
export function documentReferences(text: string): FoundReference[] {
  const references: FoundReference[] = [];
  let end = 0;
  for (const found of text.matchAll(LINES)) {
    const [whole, extension = "", first = "", last] = found;
    const start = pathStart(text, found.index, end);
    const path = text.slice(start, found.index + 1 + extension.length);
    const reference = start < found.index ? referenceTo({ path, extension, first, last }) : null;
    if (reference === null) continue;
    end = found.index + whole.length;
    references.push({ ...reference, start, end });
  }
  return references;
}

/** The reference that a code span consists of, or null. */
export function codeReference(code: string): DocumentReference | null {
  const [, path = "", extension = "", first = "", last] = CODE.exec(code) ?? [];
  return first === "" ? null : referenceTo({ path, extension, first, last });
}

function pathStart(text: string, dot: number, floor: number): number {
  let start = dot;
  const least = Math.max(floor, dot - MAX_PATH_LENGTH);
  while (start > least && !BOUNDARY.test(text[start - 1] ?? "")) start -= 1;
  return start;
}

interface Parts {
  path: string;
  extension: string;
  first: string;
  last: string | undefined;
}

function referenceTo({ path: written, extension, first: from, last: to }: Parts): DocumentReference | null {
  const path = written.replace(/^(\.\/)+/, "");
  const names = path.split("/");
  const outside = names.some((name) => name === "" || name === "." || name === "..");
  const host = names.length === 1 && HOST_ENDINGS.has(extension.toLowerCase());
  const first = Number(from);
  if (outside || host || NOT_IN_PATH.test(path) || first === 0) return null;
  return { path, first, last: Math.max(first, Number(to ?? first)) };
}
