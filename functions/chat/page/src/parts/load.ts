// The parts of the page that few answers need. They are loaded on first use, from the same version as the document.
//
// While a deployment shifts traffic, another version may answer: it has no file of this name, and the part stays
// missing. What needs it shows plain text.

import type * as Administration from "./admin.tsx";
import type * as Code from "./code.ts";
import type * as Files from "./files.ts";
import type * as Library from "./library.ts";
import type * as MathsPart from "./maths.ts";
import type * as Settings from "./settings.ts";

export type Colours = typeof Code;
export type Maths = typeof MathsPart;

/** The addresses of the parts, relative to the document; the build replaces them. */
declare const ADMIN_PART: string;
declare const CODE_PART: string;
declare const FILES_PART: string;
declare const LIBRARY_PART: string;
declare const MATHS_PART: string;
declare const SETTINGS_PART: string;

/** The path of the server: the page is at its root, or at `share/ID` below it. */
export const rootUrl = () => new URL(sharedId() === null ? "." : "..", document.baseURI);

/** The id of the shared copy that the page shows; null on the chat page. */
export function sharedId(): string | null {
  return /\/share\/([\w-]+)$/.exec(location.pathname)?.[1] ?? null;
}

/** Loads a part; null if this version of it cannot be had. */
function load<Part>(address: string): Promise<Part | null> {
  return import(new URL(address, rootUrl()).href).catch(() => null) as Promise<Part | null>;
}

/** Loads the administration. */
export const loadAdministration = () => load<typeof Administration>(ADMIN_PART);

/** Loads the part that makes MathML of TeX. */
export const loadMaths = () => load<Maths>(MATHS_PART);

/** Loads the part that colours code. */
export const loadColours = () => load<Colours>(CODE_PART);

/** Loads the files of messages, and the passages of documents. */
export const loadFiles = () => load<typeof Files>(FILES_PART);

/** Loads the palette, the dialogs to share, export and import, and the page of a shared copy. */
export const loadLibrary = () => load<typeof Library>(LIBRARY_PART);

/** Loads the settings and the setup guide. */
export const loadSettings = () => load<typeof Settings>(SETTINGS_PART);
