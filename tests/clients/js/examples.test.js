// Runs each example of `docs/clients` unchanged, and each request of README.md, docs/deploy.md and docs/deploy, and compares its
// output with the block below it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { examples, files, matches, requests } from "./support/examples.js";
import { startHashedFront } from "./support/hashed-front.js";

const FOLDER = fileURLToPath(new URL("./node_modules/.examples/", import.meta.url));
const PAGE = fileURLToPath(new URL("./support/page.js", import.meta.url));
const COMMANDS = {
  sh: (file) => ["bash", "-euo", "pipefail", file],
  python: (file) => [process.env.PYTHON ?? "python3", file],
  js: (file) => [process.execPath, file],
  tsx: (file) => [process.execPath, PAGE, file, "What is Lambda Chat?"],
};
const EXTENSIONS = { sh: "sh", python: "py", js: "mjs", tsx: "tsx" };
const run = promisify(execFile);
await mkdir(FOLDER, { recursive: true });

/** Runs an example of a document with these variables in addition. */
async function compare(name, { language, code, expected, line }, variables = {}) {
  assert.ok(expected, "a text block after the example holds its output");
  const file = path.join(FOLDER, `${path.parse(name).name}-${line}.${EXTENSIONS[language]}`);
  await writeFile(file, code);
  const [program, ...rest] = COMMANDS[language](file);
  const { stdout } = await run(program, rest, { timeout: 60_000, env: { ...process.env, ...variables } });
  assert.ok(matches(expected, stdout), `printed\n${stdout}\nexpected\n${expected}`);
}

for (const name of files) {
  describe(name, { concurrency: 2 }, () => {
    for (const example of examples(name)) {
      test(`${example.language} at line ${example.line}`, () => compare(name, example));
    }
  });
}

describe("README.md", () => {
  const found = requests("README.md");
  for (const example of found) {
    const code = example.code.replace("http://127.0.0.1:3000", process.env.DEMO_URL);
    test(`${example.language} at line ${example.line}`, () => compare("README.md", { ...example, code }));
  }
  test("it has a request", () => assert.equal(found.length, 1));
});

describe("docs/deploy.md and docs/deploy", () => {
  const documents = ["docs/deploy.md", "docs/deploy/front-doors.md"];
  const found = documents.flatMap((document) => requests(document).map((example) => ({ document, ...example })));
  const keys = JSON.parse(process.env.GUARDED_KEYS);
  for (const [n, example] of found.entries()) {
    test(`${example.language} at line ${example.line} of ${example.document}`, async () => {
      const front = await startHashedFront(process.env.GUARDED_URL, example.code.includes("x-amz-content-sha256"));
      try {
        await compare(example.document, example, { URL: `${front.url}/`, KEY: keys[`deployed-${n}`] });
      } finally {
        front.stop();
      }
    });
  }
  test("it has requests by curl, OpenAI's client and with a hash", () => assert.equal(found.length, 3));
});

test("all languages have examples", () => {
  const found = new Set(files.flatMap(examples).map((example) => example.language));
  assert.deepEqual([...found].sort(), Object.keys(COMMANDS).sort());
});
