// Builds the page: `node build.mjs` writes dist, `node build.mjs --check` fails if dist differs from a new build.
//
// The page is one document with its script and style inside. What few answers need is a file of its own, named after
// its content and loaded on demand. Every file is stored compressed; `dist/files.rs` lists them for the server, with
// the content security policy that permits exactly the document's script and style.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { gzipAsync } from "@gfx/zopfli";
import { build } from "esbuild";

const ROOT = path.dirname(fileURLToPath(import.meta.url));
const DIST = path.join(ROOT, "dist");

/** The parts that are loaded on demand: the constant that names the file in the sources, and the entry point. */
const PARTS = { ADMIN_PART: "parts/admin.ts", CODE_PART: "parts/code.ts", MATHS_PART: "parts/maths.ts" };

const OPTIONS = {
  absWorkingDir: ROOT,
  alias: { "linkify-it": "./src/markdown/no-linkify.ts", "punycode.js": "./src/markdown/no-punycode.ts" },
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  target: ["chrome109", "firefox115", "safari16.4"],
  legalComments: "none",
  logLevel: "error",
};

const sha256 = (text) => createHash("sha256").update(text);

/** The packages whose code is in the bundles. */
const bundled = new Set();

/** Bundles an entry point into one text. */
async function bundle(entry, options = {}) {
  const entryPoints = [path.join(ROOT, "src", entry)];
  const { outputFiles, metafile } = await build({ ...OPTIONS, entryPoints, metafile: true, ...options });
  for (const input of Object.keys(metafile.inputs)) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[0];
    if (name) bundled.add(name);
  }
  return outputFiles[0].text.trim();
}

/** The licences of the bundled packages, which their copies must carry. */
async function licences() {
  const texts = [...bundled].sort().map(async (folder) => {
    const { name, version } = JSON.parse(await readFile(path.join(ROOT, folder, "package.json"), "utf8"));
    const file = (await readdir(path.join(ROOT, folder))).find((file) => /^licen[cs]e/i.test(file));
    if (!file) throw new Error(`${name} has no licence file`);
    const text = await readFile(path.join(ROOT, folder, file), "utf8");
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`);
}

/** The files with a fixed name. */
const FIXED = { "icon.svg": "image/svg+xml", "manifest.webmanifest": "application/manifest+json" };

async function readFixed() {
  return Promise.all(
    Object.entries(FIXED).map(async ([name, type]) => {
      const content = await readFile(path.join(ROOT, "src", name), "utf8");
      return { name, type, immutable: false, content };
    }),
  );
}

/** The parts with the constant that names each in the sources. */
async function buildParts() {
  return Promise.all(
    Object.entries(PARTS).map(async ([constant, entry]) => {
      const content = await bundle(entry, { format: "esm" });
      const hash = sha256(content).digest("hex").slice(0, 12);
      const name = `${path.parse(entry).name}-${hash}.js`;
      return { constant, name, type: "text/javascript; charset=utf-8", immutable: true, content };
    }),
  );
}

/** A script that can be inside an element: in strings and regular expressions, `\\x3c` is the same as `<`. */
function inlineScript(text) {
  return text.replace(/<(?=!--|\/?script)/gi, "\\x3c");
}

/** The document, and its content security policy. */
async function buildDocument(parts) {
  const define = Object.fromEntries(parts.map(({ constant, name }) => [constant, JSON.stringify(`./assets/${name}`)]));
  const [template, style, head, main, icon] = await Promise.all([
    readFile(path.join(ROOT, "src/index.html"), "utf8"),
    bundle("style.css"),
    bundle("theme.ts", { format: "iife" }).then(inlineScript),
    bundle("main.ts", { format: "iife", define }).then(inlineScript),
    readFile(path.join(ROOT, "src/icon.svg"), "utf8"),
  ]);
  const slots = { style, head, main, icon: `data:image/svg+xml,${encodeURIComponent(icon.trim())}` };
  const short = template.replaceAll(/<!--.*?-->/g, "").replaceAll(/\n\s*/g, "\n");
  const html = short.replace(/\{\{(\w+)\}\}/g, (_, slot) => slots[slot]);
  const hash = (text) => `'sha256-${sha256(text).digest("base64")}'`;
  return { html, policy: policy([hash(head), hash(main)], hash(style)) };
}

function policy(scripts, style) {
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(" ")}`,
    `style-src ${style}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** The table of files as Rust source; the server includes it. */
function rustTable(html, policy, assets) {
  const row = ({ name, type, immutable }) =>
    `    Asset { name: "${name}", content_type: "${type}", immutable: ${immutable}, gzip: include_bytes!("${name}.gz") },\n`;
  return `// Written by build.mjs; do not edit.

/// The content security policy of the page: it permits exactly the script and the style of the document.
const CONTENT_SECURITY_POLICY: &str = "${policy}";

/// The first digits of the document's SHA-256.
const DOCUMENT_HASH: &str = "${sha256(html).digest("hex").slice(0, 16)}";

/// The document, compressed with gzip.
const DOCUMENT_GZIP: &[u8] = include_bytes!("index.html.gz");

/// The files that the page loads on demand. An immutable file has the hash of its content in its name.
const ASSETS: &[Asset] = &[
${assets.map(row).join("")}];
`;
}

/** Zopfli finds the shortest form of gzip, 4 % below zlib's: the files are a part of the function's size. */
const gzip = async (text) => Buffer.from(await gzipAsync(text, { numiterations: 15 }));

/** All files of dist: the name, the text and how the text is stored. */
async function buildFiles() {
  const parts = await buildParts();
  const { html, policy } = await buildDocument(parts);
  const notices = { name: "licences.txt", type: "text/plain; charset=utf-8", immutable: false, content: await licences() };
  const assets = [...(await readFixed()), notices, ...parts];
  const store = (name, text, encode, decode) => ({ name, text, encode, decode });
  return [
    store("index.html.gz", html, gzip, gunzipSync),
    ...assets.map(({ name, content }) => store(`${name}.gz`, content, gzip, gunzipSync)),
    store("files.rs", rustTable(html, policy, assets), Buffer.from, (bytes) => bytes),
  ];
}

/** The names of the files whose stored text differs; versions of zlib compress the same text differently. */
async function differences(files) {
  const stored = await readdir(DIST).catch(() => []);
  const names = new Set([...stored, ...files.map(({ name }) => name)]);
  const differs = async (name) => {
    const file = files.find((file) => file.name === name);
    if (!file || !stored.includes(name)) return true;
    return file.decode(await readFile(path.join(DIST, name))).toString() !== file.text;
  };
  const checked = await Promise.all([...names].map(async (name) => [name, await differs(name)]));
  return checked.filter(([, differs]) => differs).map(([name]) => name);
}

async function write(files) {
  // Compression takes seconds, in which the old files stay.
  const contents = await Promise.all(files.map(async ({ name, text, encode }) => ({ name, content: await encode(text) })));
  await rm(DIST, { recursive: true, force: true });
  await mkdir(DIST);
  for (const { name, content } of contents) {
    await writeFile(path.join(DIST, name), content);
    console.log(`${name}: ${content.length} bytes`);
  }
}

const files = await buildFiles();
const changed = await differences(files);
if (process.argv.includes("--check")) {
  if (changed.length > 0) {
    console.error(`functions/chat/page/dist is not built from its sources: ${changed.join(", ")}. Run npm run build there.`);
    process.exit(1);
  }
} else if (changed.length > 0) {
  await write(files);
}
