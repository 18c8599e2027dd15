// A part of the page: TeX to MathML by Temml, as elements from an allow-list.

import temml from "temml";

import { addStyle } from "../view/dom.ts";

/** The file of the font, and the style; the build replaces them. */
declare const FONT: string;
declare const STYLE: string;

addStyle(STYLE);
// Browsers load it if the device has none of the fonts for formulas that the style names before it.
document.fonts.add(new FontFace("Formulas", `url("${new URL(FONT, import.meta.url).href}")`));

const MATHML = "http://www.w3.org/1998/Math/MathML";

const ELEMENTS = new Set([
  "math", "semantics", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle", "merror",
  "mpadded", "mphantom", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none",
  "mtable", "mtr", "mtd", "menclose",
]);

/** The attributes that are copied; links, sources and handlers are not among them. */
const ATTRIBUTES = new Set([
  "accent", "accentunder", "columnalign", "columnlines", "columnspacing", "columnspan", "depth", "display", "displaystyle",
  "fence", "form", "height", "largeop", "linebreak", "linethickness", "lspace", "mathbackground", "mathcolor", "mathsize",
  "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rowspan", "rspace",
  "scriptlevel", "separator", "side", "stretchy", "symmetric", "voffset", "width",
]);

/** A node of Temml's tree: an element, a fragment without a type, or a text. */
interface Tree {
  type?: string;
  text?: string;
  attributes?: Record<string, string>;
  classes?: string[];
  style?: Record<string, string>;
  children?: Tree[];
}

/** The MathML element of a formula; null if it is not valid TeX. */
export function toMathMl(tex: string, display: boolean): Node | null {
  try {
    const options = { displayMode: display, throwOnError: true, strict: false, trust: false, maxExpand: 200 };
    return toNode(temml.__renderToMathMLTree(tex, { ...options, maxSize: [20, 100] }));
  } catch {
    return null;
  }
}

function toNode(tree: Tree): Node {
  if (typeof tree.text === "string" && tree.children === undefined) return document.createTextNode(tree.text);
  const parent = tree.type && ELEMENTS.has(tree.type) ? element(tree, tree.type) : document.createDocumentFragment();
  for (const child of tree.children ?? []) parent.append(toNode(child));
  return parent;
}

function element(tree: Tree, type: string): Element {
  const node = document.createElementNS(MATHML, type) as MathMLElement;
  for (const [name, value] of Object.entries(tree.attributes ?? {})) {
    if (ATTRIBUTES.has(name)) node.setAttribute(name, value);
    // The policy of the page permits no style attributes, but scripts may set a style.
    if (name === "style") node.style.cssText = value;
  }
  if (tree.classes?.length) node.setAttribute("class", tree.classes.join(" "));
  for (const [name, value] of Object.entries(tree.style ?? {})) {
    if (value && name in node.style) Object.assign(node.style, { [name]: value });
  }
  return node;
}
