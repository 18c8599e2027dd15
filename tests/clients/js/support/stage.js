// Runs programs against three servers: `node stage.js PROGRAM…`; each argument is a shell command.
//
// It sets in the programs' environment
//   OPENAI_BASE_URL, OPENAI_API_KEY   the open server, in the variables that OpenAI's clients read
//   LAMBDA_CHAT_URL                   the URL of the open server
//   GUARDED_URL                       the URL of a server that requires a key and allows one request per minute and key
//   GUARDED_KEYS                      its keys, a JSON object by the names of KEYS
//   DEMO_URL                          the URL of a server without settings, whose model is the demo
//   MODEL_URL                         the scripted model, for control requests
// The first two allow the origin https://pages.example. Their models are `native` and `prompt`: the same script with
// native tools and with tools in the prompt.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { startModel } from "./model.js";
import { createKey, startServer } from "./server.js";

const TIMEOUT_MS = 600_000;
const KEYS = ["openai-js", "ai-sdk", "openai-python", "responses-one", "responses-other", "langchain", "deployed-0", "deployed-1", "deployed-2"];

const model = await startModel();
const entry = (name) => ({ name, baseUrl: `${model.url}/v1`, model: "scripted", tools: name });
const settings = {
  MODELS: JSON.stringify([entry("native"), entry("prompt")]),
  DEFAULT_MODEL: "prompt",
  TITLE_MODEL: "none",
  ALLOWED_ORIGINS: "https://pages.example",
};
const data = await mkdtemp(path.join(tmpdir(), "clients-"));
const keys = Object.fromEntries(KEYS.map((user) => [user, createKey(data, user)]));
const open = await startServer(settings);
const guarded = await startServer({ ...settings, AUTH: "api_key", CHAT_RATE_LIMIT: "1/60s" }, ["--data", data]);

const demo = await startServer();

const env = {
  ...process.env,
  OPENAI_BASE_URL: `${open.url}/v1`,
  OPENAI_API_KEY: "any",
  LAMBDA_CHAT_URL: open.url,
  GUARDED_URL: guarded.url,
  GUARDED_KEYS: JSON.stringify(keys),
  MODEL_URL: model.url,
  DEMO_URL: demo.url,
};
const run = async (command) => {
  const child = spawn(command, { shell: true, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
  const timeout = setTimeout(() => {
    console.error(`timeout after ${TIMEOUT_MS / 60_000} minutes: ${command}`);
    process.kill(-child.pid, "SIGKILL");
  }, TIMEOUT_MS);
  const [code] = await once(child, "exit");
  clearTimeout(timeout);
  return code ?? 1;
};
const codes = await Promise.all(process.argv.slice(2).map(run));
await Promise.all([open.stop(), guarded.stop(), demo.stop()]);
model.stop();
await rm(data, { recursive: true });
process.exitCode = Math.max(...codes);
