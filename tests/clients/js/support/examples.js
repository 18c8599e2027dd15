// Extracts the examples of `docs/clients`: code blocks and their expected output.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../../docs/clients/", import.meta.url));
const LANGUAGES = ["sh", "python", "js", "tsx"];

/** The Markdown files of the folder. */
export const files = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));

/** The examples of a file: language, code, line and expected output, which is the text block after the code. */
export function examples(name) {
  const text = readFileSync(FOLDER + name, "utf8");
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
