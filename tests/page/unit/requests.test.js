// The paths and headers of the page's requests.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, test } from "node:test";

globalThis.sessionStorage = { getItem: () => null };
globalThis.localStorage = { getItem: () => null };
const { changeConversation, chat, listModels, request } = await import("../../../functions/chat/page/src/api/client.ts");

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

/** Fakes `fetch` with an empty turn as every response; returns the list of requests. */
function fakeFetch() {
  const requests = [];
  globalThis.fetch = async (path, options) => {
    requests.push({ path, ...options });
    if (options.method === "DELETE") return new Response(null, { status: 204 });
    return new Response('data: {"type":"done"}\n\n');
  };
  return requests;
}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

test("writing requests carry the body's SHA-256", async () => {
  const requests = fakeFetch();
  await chat({ message: "你好 🌤" }, { idempotencyKey: "k", onEvent() {} });
  await changeConversation("c", { title: "茶" }).catch(() => {});
  await request("DELETE", "/api/conversations/c");
  assert.deepEqual(
    requests.map(({ method, body, headers }) => [method, headers["x-amz-content-sha256"] === sha256(body ?? "")]),
    [
      ["POST", true],
      ["PATCH", true],
      ["DELETE", true],
    ],
  );
  assert.equal(requests[0].headers["idempotency-key"], "k");
});

test("reading requests carry no hash", async () => {
  const requests = fakeFetch();
  await listModels().catch(() => {});
  assert.deepEqual(requests[0].headers, {});
});

test("requests carry no hash without a secure context", async () => {
  const requests = fakeFetch();
  const original = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  try {
    await request("DELETE", "/api/conversations/c");
  } finally {
    Object.defineProperty(globalThis, "crypto", original);
  }
  assert.deepEqual(requests[0].headers, {});
});

test("paths are relative to the page", async () => {
  const requests = fakeFetch();
  await request("DELETE", "/api/conversations/c");
  assert.equal(requests[0].path, "./api/conversations/c");
});
