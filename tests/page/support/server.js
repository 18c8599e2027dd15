// Runs the server's binary, by default on a free port; each server has its own data folder.

import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BINARY = process.env.LAMBDA_CHAT_BIN ?? path.join(ROOT, "target/debug/lambda-chat");
const READY = /http:\/\/127\.0\.0\.1:\d+/;

/** Starts the server and resolves when it has printed its URL. Its environment holds only `settings`, PATH and HOME. */
export async function startServer({ data, settings, port = 0 }) {
  const env = { PATH: process.env.PATH, HOME: data, ...settings };
  const child = spawn(BINARY, ["--port", String(port), "--data", data], { env, stdio: ["ignore", "pipe", "pipe"] });
  const stderr = [];
  child.stderr.setEncoding("utf8").on("data", (text) => stderr.push(text));
  const exited = once(child, "exit");
  const url = await Promise.race([
    ready(child.stdout),
    exited.then(([code]) => {
      throw new Error(`the server exited with ${code}: ${stderr.join("")}`);
    }),
  ]);
  const end = async (signal) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  return { url, port: Number(new URL(url).port), stop: () => end("SIGINT"), kill: () => end("SIGKILL") };
}

async function ready(output) {
  const lines = createInterface({ input: output });
  for await (const line of lines) {
    const url = READY.exec(line)?.[0];
    if (!url) continue;
    output.resume();
    return url;
  }
  throw new Error("the server exited without printing its URL");
}
