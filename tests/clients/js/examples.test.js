// Every example of `docs/clients`, as it stands there: it runs, and prints what the block below it says.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { examples, files, fits } from "./support/examples.js";

const FOLDER = fileURLToPath(new URL("./node_modules/.examples/", import.meta.url));
const PAGE = fileURLToPath(new URL("./support/page.js", import.meta.url));
const RUNS = {
  sh: (file) => ["bash", "-euo", "pipefail", file],
  python: (file) => [process.env.PYTHON ?? "python3", file],
  js: (file) => [process.execPath, file],
  tsx: (file) => [process.execPath, PAGE, file, "What is Lambda Chat?"],
};
const ENDINGS = { sh: "sh", python: "py", js: "mjs", tsx: "tsx" };
const run = promisify(execFile);
await mkdir(FOLDER, { recursive: true });

for (const name of files) {
  describe(name, { concurrency: 2 }, () => {
    for (const { language, code, prints, line } of examples(name)) {
      test(`${language} at line ${line}`, async () => {
        assert.ok(prints, "a block of text says what it prints");
        const file = path.join(FOLDER, `${path.parse(name).name}-${line}.${ENDINGS[language]}`);
        await writeFile(file, code);
        const [program, ...rest] = RUNS[language](file);
        const { stdout } = await run(program, rest, { timeout: 60_000 });
        assert.ok(fits(prints, stdout), `it printed\n${stdout}\nand not\n${prints}`);
      });
    }
  });
}

test("the languages are all there", () => {
  const found = new Set(files.flatMap(examples).map((example) => example.language));
  assert.deepEqual([...found].sort(), Object.keys(RUNS).sort());
});
