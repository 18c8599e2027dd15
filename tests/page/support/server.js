// The product itself: the binary, started on a free port with a data folder of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BINARY = process.env.LAMBDA_CHAT_BIN ?? path.join(ROOT, "target/debug/lambda-chat");
const READY = /http:\/\/127\.0\.0\.1:\d+/;

/** Starts the server; resolves once it has said where it listens. `settings` are its environment, and nothing else is. */
export async function startServer({ data, settings, port = 0 }) {
  const env = { PATH: process.env.PATH, HOME: data, ...settings };
  const child = spawn(BINARY, ["--port", String(port), "--data", data], { env, stdio: ["ignore", "pipe", "pipe"] });
  const complaints = [];
  child.stderr.setEncoding("utf8").on("data", (text) => complaints.push(text));
  const exited = once(child, "exit");
  const url = await Promise.race([
    ready(child.stdout),
    exited.then(([code]) => {
      throw new Error(`the server ended with ${code}: ${complaints.join("")}`);
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
  throw new Error("the server said nothing about where it listens");
}
