// Loads the page's TypeScript sources in Node: esbuild removes the types.
// Usage: `node --import ./support/modules.mjs`.

import { register } from "node:module";

const esbuild = new URL("../../../functions/chat/page/node_modules/esbuild/lib/main.js", import.meta.url).href;
const hook = `
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
export async function load(url, context, next) {
  if (!/\\.tsx?$/.test(url)) return next(url, context);
  const { transform } = (await import("${esbuild}")).default;
  const source = await readFile(fileURLToPath(url), "utf8");
  const { code } = await transform(source, { loader: "tsx", jsx: "automatic", jsxImportSource: "preact", format: "esm", target: "es2022" });
  return { format: "module", source: code, shortCircuit: true };
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
