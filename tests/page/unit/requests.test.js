// What the page sends: where to, and with which headers.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { afterEach, test } from "node:test";

globalThis.sessionStorage = { getItem: () => null };
const { chat, deleteConversation, listModels, renameConversation } = await import("../../../functions/chat/page/api.js");

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
});

/** Answers everything with an empty turn, and gives what was sent. */
function sent() {
  const requests = [];
  globalThis.fetch = async (path, options) => {
    requests.push({ path, ...options });
    if (options.method === "DELETE") return new Response(null, { status: 204 });
    return new Response('data: {"type":"done"}\n\n');
  };
  return requests;
}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

test("what changes something carries the SHA-256 of its body, in whatever language it is", async () => {
  const requests = sent();
  await chat({ message: "你好 🌤" }, { idempotencyKey: "k", onEvent() {} });
  await renameConversation("c", "茶").catch(() => {});
  await deleteConversation("c");
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

test("what only reads carries none", async () => {
  const requests = sent();
  await listModels().catch(() => {});
  assert.deepEqual(requests[0].headers, {});
});

test("without TLS, where browsers compute none, requests are sent without", async () => {
  const requests = sent();
  const whole = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  try {
    await deleteConversation("c");
  } finally {
    Object.defineProperty(globalThis, "crypto", whole);
  }
  assert.deepEqual(requests[0].headers, {});
});

test("paths are taken from where the page is", async () => {
  const requests = sent();
  await deleteConversation("c");
  assert.equal(requests[0].path, "./api/conversations/c");
});
