// The parts of the page that few answers need. They are loaded on first use, from the same version as the document.
//
// While a deployment shifts traffic, another version may answer: it has no file of this name, and the part stays
// missing. What needs it shows plain text.

import type * as Administration from "./admin.ts";
import type * as Code from "./code.ts";
import type * as MathsPart from "./maths.ts";

export type Colours = typeof Code;
export type Maths = typeof MathsPart;

/** The addresses of the parts, relative to the document; the build replaces them. */
declare const ADMIN_PART: string;
declare const CODE_PART: string;
declare const MATHS_PART: string;

/** Loads a part; null if this version of it cannot be had. */
function load<Part>(address: string): Promise<Part | null> {
  return import(address).catch(() => null) as Promise<Part | null>;
}

/** Loads the administration. */
export const loadAdministration = () => load<typeof Administration>(new URL(ADMIN_PART, document.baseURI).href);

/** Loads the part that makes MathML of TeX. */
export const loadMaths = () => load<Maths>(new URL(MATHS_PART, document.baseURI).href);

/** Loads the part that colours code. */
export const loadColours = () => load<Colours>(new URL(CODE_PART, document.baseURI).href);
