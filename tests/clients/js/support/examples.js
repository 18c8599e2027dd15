// The examples of `docs/clients`: blocks of code, and what each prints.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../../docs/clients/", import.meta.url));
const RUN = ["sh", "python", "js", "tsx"];

/** The files there. */
export const files = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));

/** The examples of a file in their order: language, code, line, and the block of text after each, if there is one. */
export function examples(name) {
  const text = readFileSync(FOLDER + name, "utf8");
  const found = [];
  for (const match of text.matchAll(/^```(\S+)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms)) {
    const [, language, code, prints] = match;
    if (RUN.includes(language)) found.push({ language, code, prints, line: text.slice(0, match.index).split("\n").length });
  }
  return found;
}

/** Whether this is what stands in the block; there `…` is anything. */
export function fits(block, printed) {
  const pieces = block.trimEnd().split("…").map((piece) => piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[^]*")}$`).test(printed.trimEnd());
}
