// Extracts the examples of `docs/clients`, and the requests in other documents: code blocks and their expected output.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FOLDER = "docs/clients/";
const LANGUAGES = ["sh", "python", "js", "tsx"];

/** The Markdown files of the folder. */
export const files = readdirSync(ROOT + FOLDER)
  .filter((name) => name.endsWith(".md"))
  .map((name) => FOLDER + name);

/** The requests in a document that has other commands too: those by `curl` that print an answer, and all of Python. */
export const requests = (name) =>
  examples(name).filter(({ language, code }) => language === "python" || /curl .*(-N|--fail-with-body)/.test(code));

/** The examples of a file: language, code, line and expected output, which is the text block after the code. */
export function examples(name) {
  const text = readFileSync(ROOT + name, "utf8");
  const found = [];
  for (const match of text.matchAll(/^```(\S+)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms)) {
    const [, language, code, expected] = match;
    if (LANGUAGES.includes(language)) found.push({ language, code, expected, line: text.slice(0, match.index).split("\n").length });
  }
  return found;
}

/** Whether the output matches the expected block; `…` in the block matches any text. */
export function matches(block, printed) {
  const pieces = block.trimEnd().split("…").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[^]*")}$`).test(printed.trimEnd());
}
