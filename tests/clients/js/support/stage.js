// Runs programs beside the product: `node stage.js PROGRAM…`, each argument a command for the shell.
//
// They find in their environment
//   OPENAI_BASE_URL, OPENAI_API_KEY   the open server, as clients of OpenAI look for it
//   LAMBDA_CHAT_URL                   its root
//   GUARDED_URL                       the root of one that wants a key and takes one request a minute from each
//   GUARDED_KEYS                      keys for it, a JSON object by the names of KEYS
//   MODEL_URL                         the scripted model, to release what it holds back
// A page of https://pages.example may ask both. The models are `native` and `prompt`: the same script, with tools told natively and as text.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { startModel } from "./model.js";
import { makeKey, startServer } from "./server.js";

const LIMIT_MS = 600_000;
const KEYS = ["openai-js", "ai-sdk", "openai-python", "langchain"];

const model = await startModel();
const entry = (name) => ({ name, baseUrl: `${model.url}/v1`, model: "scripted", tools: name });
const settings = {
  MODELS: JSON.stringify([entry("native"), entry("prompt")]),
  DEFAULT_MODEL: "prompt",
  ALLOWED_ORIGINS: "https://pages.example",
};
const data = await mkdtemp(path.join(tmpdir(), "clients-"));
const keys = Object.fromEntries(KEYS.map((user) => [user, makeKey(data, user)]));
const open = await startServer(settings);
const guarded = await startServer({ ...settings, AUTH: "api_key", CHAT_RATE_LIMIT: "1/60s" }, ["--data", data]);

const env = {
  ...process.env,
  OPENAI_BASE_URL: `${open.url}/v1`,
  OPENAI_API_KEY: "any",
  LAMBDA_CHAT_URL: open.url,
  GUARDED_URL: guarded.url,
  GUARDED_KEYS: JSON.stringify(keys),
  MODEL_URL: model.url,
};
const run = async (command) => {
  const child = spawn(command, { shell: true, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
  const late = setTimeout(() => {
    console.error(`given up after ${LIMIT_MS / 60_000} minutes: ${command}`);
    process.kill(-child.pid, "SIGKILL");
  }, LIMIT_MS);
  const [code] = await once(child, "exit");
  clearTimeout(late);
  return code ?? 1;
};
const codes = await Promise.all(process.argv.slice(2).map(run));
await Promise.all([open.stop(), guarded.stop()]);
model.stop();
await rm(data, { recursive: true });
process.exitCode = Math.max(...codes);
