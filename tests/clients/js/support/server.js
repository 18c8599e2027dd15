// Runs the server's binary on a free port, by default with an in-memory store.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const BINARY = process.env.LAMBDA_CHAT_BIN ?? path.join(ROOT, "target/debug/lambda-chat");
const READY = /http:\/\/127\.0\.0\.1:\d+/;

/** Starts the server and resolves when it has printed its URL. Its environment holds `settings`, PATH and rate limits. */
export async function startServer(settings = {}, store = ["--ephemeral"]) {
  const env = { PATH: process.env.PATH, CHAT_RATE_LIMIT: "1000/60s", SEARCH_RATE_LIMIT: "1000/60s", ...settings };
  const child = spawn(BINARY, ["--port", "0", ...store], { env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const ended = exited.then(([code]) => {
    throw new Error(`the server exited with ${code}`);
  });
  const url = await Promise.race([ready(child.stdout), ended]);
  ended.catch(() => {});
  const stop = async () => {
    child.kill("SIGINT");
    await exited;
  };
  return { url, stop };
}

/** Creates a user's key in a data folder. */
export function createKey(data, user) {
  const args = ["keys", "create", "--user", user, "--data", data];
  return execFileSync(BINARY, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
}

async function ready(output) {
  for await (const line of createInterface({ input: output })) {
    const url = READY.exec(line)?.[0];
    if (!url) continue;
    output.resume();
    return url;
  }
  throw new Error("the server exited without printing its URL");
}
