// A part of the page: colours of code by highlight.js, as elements made from lowlight's tree.

import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

import { addStyle } from "../view/dom.ts";

/** The style; the build replaces it. */
declare const STYLE: string;

addStyle(STYLE);

const lowlight = createLowlight({
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, markdown, php, python, ruby, rust,
  shell, sql, swift, typescript, xml, yaml,
});

lowlight.registerAlias({ javascript: ["jsx", "mjs"], typescript: ["tsx"], ini: ["toml"], xml: ["html", "svg", "vue"] });

type Tree = ReturnType<typeof lowlight.highlight>;
type Content = Tree["children"][number];

/** The coloured nodes of a code block; null for an unknown language. */
export function colour(text: string, language: string): DocumentFragment | null {
  if (!lowlight.registered(language)) return null;
  const fragment = document.createDocumentFragment();
  fragment.append(...lowlight.highlight(language, text).children.map(toNode));
  return fragment;
}

function toNode(content: Content): Node {
  if (content.type === "text") return document.createTextNode(content.value);
  const span = document.createElement("span");
  if (content.type !== "element") return span;
  const names = content.properties.className;
  if (Array.isArray(names)) span.className = names.join(" ");
  span.append(...content.children.map(toNode));
  return span;
}
