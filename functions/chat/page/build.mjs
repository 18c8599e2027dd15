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

/** The parts that are loaded on demand: the constant that names the file in the sources, the entry point, and a style. */
const PARTS = {
  ADMIN_PART: ["parts/admin.tsx", "style/admin.css"],
  CODE_PART: ["parts/code.ts", "style/code.css"],
  FILES_PART: ["parts/files.ts", "style/files.css"],
  LIBRARY_PART: ["parts/library.ts", "style/library.css"],
  MATHS_PART: ["parts/maths.ts", "style/maths.css"],
  SETTINGS_PART: ["parts/settings.ts", "style/settings.css"],
};

/** The folders of `src` that only parts contain. */
const PART_FOLDERS = /^(admin|files|library|settings|setup)\//;

/** What parts use of the page: the names by module. It is in the document only, so that all have one state and one Preact. */
const shared = new Map();

/** Leaves a part's imports of the page's modules as they are, with `page:` before the module's path in `src`. */
const fromPage = {
  name: "from-page",
  setup(build) {
    build.onResolve({ filter: /^(@?preact|\.\.?\/)/ }, ({ path: imported, resolveDir, kind }) => {
      if (kind !== "import-statement") return null;
      const relative = path.relative(path.join(ROOT, "src"), path.resolve(resolveDir, imported)).replaceAll(path.sep, "/");
      const module = imported.startsWith(".") ? relative : imported;
      return PART_FOLDERS.test(module) || module.startsWith("..") ? null : { path: `page:${module}`, external: true };
    });
  },
};

/** Replaces the imports that `fromPage` left by the page's instances, and notes their names. */
function linkToPage(text) {
  return text.replace(/import\{([^}]*)\}from"page:([^"]*)";/g, (_, list, module) => {
    const bindings = list.split(",").map((binding) => binding.split(" as "));
    shared.set(module, new Set([...(shared.get(module) ?? []), ...bindings.map(([name]) => name)]));
    return `const{${bindings.map(([name, local = name]) => `${name}:${local}`)}}=pageModules["${module}"];`;
  });
}

/** The entry point of the document's script: the page, and its modules for the parts, which are loaded later. */
function mainModule() {
  const modules = [...shared].sort().map(([module, names], at) => {
    const address = /^@?preact/.test(module) ? module : `./${module}`;
    const locals = [...names].sort().map((name) => [name, `${name}${at}`]);
    const imported = `import { ${locals.map(([name, local]) => `${name} as ${local}`)} } from "${address}";`;
    return { imported, entry: `"${module}": { ${locals.map(([name, local]) => `${name}: ${local}`)} }` };
  });
  const imports = modules.map(({ imported }) => imported).join("\n");
  return `${imports}\nimport "./main.ts";\nglobalThis.pageModules = { ${modules.map(({ entry }) => entry)} };`;
}

const OPTIONS = {
  absWorkingDir: ROOT,
  alias: {
    "linkify-it": "./src/markdown/no-linkify.ts",
    mdurl: "./src/markdown/urls.ts",
    "punycode.js": "./src/markdown/no-punycode.ts",
    "uc.micro": "./src/markdown/unicode-classes.ts",
  },
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  target: ["chrome109", "firefox115", "safari16.4"],
  legalComments: "none",
  logLevel: "error",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
};

const sha256 = (text) => createHash("sha256").update(text);

/** The packages whose code is in the bundles. */
const bundled = new Set();

/** Bundles an entry point, the path of a file or `{ contents }`, into one text. */
async function bundle(entry, options = {}) {
  const resolveDir = path.join(ROOT, "src");
  const input = entry.contents ? { stdin: { ...entry, resolveDir } } : { entryPoints: [path.join(resolveDir, entry)] };
  const { outputFiles, metafile } = await build({ ...OPTIONS, ...input, metafile: true, ...options });
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
  texts.push(readFile(path.join(ROOT, "src/fonts/LICENCE.txt"), "utf8"));
  return (await Promise.all(texts)).join(`\n${"-".repeat(72)}\n\n`);
}

/** The files with a fixed name. */
const FIXED = {
  "icon.svg": "image/svg+xml",
  "manifest.webmanifest": "application/manifest+json",
  "touch-icon.png": "image/png",
};

async function readFixed() {
  return Promise.all(
    Object.entries(FIXED).map(async ([name, type]) => {
      const content = await readFile(path.join(ROOT, "src", name));
      return { name, type, immutable: false, content };
    }),
  );
}

/** The name of a file with its hash. */
const hashedName = (name, extension, content) => `${name}-${sha256(content).digest("hex").slice(0, 12)}.${extension}`;

/** The font of formulas. */
async function readFont() {
  const content = await readFile(path.join(ROOT, "src/fonts/formulas.woff2"));
  return { name: hashedName("formulas", "woff2", content), type: "font/woff2", immutable: true, content };
}

/** The parts with the constant that names each in the sources. A part adds its style itself: `STYLE` is the text. */
async function buildParts(font) {
  return Promise.all(
    Object.entries(PARTS).map(async ([constant, [entry, style]]) => {
      const define = { ...OPTIONS.define, FONT: JSON.stringify(font.name), ...(style && { STYLE: JSON.stringify(await bundle(style)) }) };
      const content = linkToPage(await bundle(entry, { format: "esm", define, plugins: [fromPage] }));
      const name = hashedName(path.parse(entry).name, "js", content);
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
  const addresses = Object.fromEntries(parts.map(({ constant, name }) => [constant, JSON.stringify(`./assets/${name}`)]));
  const define = { ...OPTIONS.define, ...addresses };
  const [template, style, head, main, icon] = await Promise.all([
    readFile(path.join(ROOT, "src/index.html"), "utf8"),
    bundle("style.css"),
    bundle("theme.ts", { format: "iife" }).then(inlineScript),
    bundle({ contents: mainModule() }, { format: "iife", define }).then(inlineScript),
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
    "img-src 'self' blob: data:",
    "font-src 'self'",
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

/** Zopfli, with any number of blocks, finds a form of gzip 4 % below zlib’s: the files are a part of the function’s size. */
const gzip = async (text) => Buffer.from(await gzipAsync(text, { numiterations: 15, blocksplittingmax: 0 }));

/** All files of dist: the name, the content and how it is stored. */
async function buildFiles() {
  const font = await readFont();
  const parts = await buildParts(font);
  const { html, policy } = await buildDocument(parts);
  const notices = { name: "licences.txt", type: "text/plain; charset=utf-8", immutable: false, content: await licences() };
  const assets = [...(await readFixed()), notices, font, ...parts];
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
    return !file.decode(await readFile(path.join(DIST, name))).equals(Buffer.from(file.text));
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
