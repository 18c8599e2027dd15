// Runs each example of `docs/clients` unchanged and compares its output with the block below it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { examples, files, matches } from "./support/examples.js";

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

for (const name of files) {
  describe(name, { concurrency: 2 }, () => {
    for (const { language, code, expected, line } of examples(name)) {
      test(`${language} at line ${line}`, async () => {
        assert.ok(expected, "a text block after the example holds its output");
        const file = path.join(FOLDER, `${path.parse(name).name}-${line}.${EXTENSIONS[language]}`);
        await writeFile(file, code);
        const [program, ...rest] = COMMANDS[language](file);
        const { stdout } = await run(program, rest, { timeout: 60_000 });
        assert.ok(matches(expected, stdout), `printed\n${stdout}\nexpected\n${expected}`);
      });
    }
  });
}

test("all languages have examples", () => {
  const found = new Set(files.flatMap(examples).map((example) => example.language));
  assert.deepEqual([...found].sort(), Object.keys(COMMANDS).sort());
});
