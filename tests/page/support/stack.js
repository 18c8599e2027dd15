// What a browser test runs against: the server with its own data folder, and the server's model and search endpoints.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { openModel, openSearch } from "./endpoints.js";
import { startServer } from "./server.js";

/** Starts a server and its endpoints; `stop` ends all of them, `restart` starts the server again with changed settings. */
export async function startStack(settings = {}) {
  const data = await mkdtemp(path.join(tmpdir(), "page-"));
  const [model, search] = await Promise.all([openModel(), openSearch()]);
  const environment = {
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_MODEL: "test-model",
    OPENAI_API_KEY: "model-key",
    TITLE_MODEL: "none",
    TAVILY_BASE_URL: search.url,
    TAVILY_API_KEY: "search-key",
    ...settings,
  };
  let server = await startServer({ data, settings: environment });
  const restart = async (changes = {}) => {
    await server.stop();
    server = await startServer({ data, settings: { ...environment, ...changes }, port: server.port });
  };
  const stop = async () => {
    model.close();
    search.close();
    await server.stop();
    await rm(data, { recursive: true, force: true });
  };
  return { model, search, url: server.url, server: () => server, restart, stop };
}
