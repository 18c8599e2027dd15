// Reading a turn from the bytes of a response: where it ends, and what happens when it does not.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readEvents } from "../../../functions/chat/page/api.js";

const START = { type: "start", conversationId: "c", messageId: "m", model: "m" };
const CONTENT = { type: "content", content: "根据搜索结果，🌤 明天多云。" };
const DONE = { type: "done", finishReason: "stop" };

const frames = (...events) => events.map((event, n) => `id: t-${n + 1}\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** A reader of these pieces; what is an error is thrown, a function is called, and after the last piece the body ends. */
function readerOf(...pieces) {
  const reader = {
    cancelled: false,
    async read() {
      const piece = pieces.shift();
      if (piece instanceof Error) throw piece;
      if (typeof piece === "function") return piece();
      return piece === undefined ? { done: true } : { done: false, value: piece };
    },
    async cancel() {
      reader.cancelled = true;
    },
  };
  return reader;
}

async function read(reader, { signal, timeoutMs = 60_000 } = {}) {
  const events = [];
  const complete = await readEvents(reader, (event) => events.push(event), signal, timeoutMs);
  return { complete, events, cancelled: reader.cancelled };
}

const bytes = (text) => new TextEncoder().encode(text);

test("a turn is the same wherever its bytes are cut, also inside a character", async () => {
  const all = bytes(`${frames(START, CONTENT, DONE)}data: [DONE]\n\n`);
  for (let at = 0; at <= all.length; at += 1) {
    const found = await read(readerOf(all.slice(0, at), all.slice(at)));
    assert.deepEqual(found, { complete: true, events: [START, CONTENT, DONE], cancelled: true }, `cut at ${at}`);
  }
});

test("nothing after the event that ends a turn is read", async () => {
  const found = await read(readerOf(bytes(frames(START, DONE, CONTENT))));
  assert.deepEqual(found.events, [START, DONE]);
});

test("an error event ends a turn as well", async () => {
  const failed = {
    type: "error",
    code: "upstream_stalled",
    message: "The model stopped answering.",
    retryable: true,
    requestId: "r",
  };
  assert.deepEqual(await read(readerOf(bytes(frames(START, failed)))), {
    complete: true,
    events: [START, failed],
    cancelled: true,
  });
});

test("f021_ a stream that ends without its last event was cut, whatever [DONE] says", async () => {
  assert.equal((await read(readerOf(bytes(frames(START, CONTENT))))).complete, false);
  assert.equal((await read(readerOf(bytes(`${frames(START, CONTENT)}data: [DONE]\n\n`)))).complete, false);
});

test("f020_ a connection that breaks cuts the stream and keeps what came", async () => {
  const found = await read(readerOf(bytes(frames(START, CONTENT)), new TypeError("network error")));
  assert.deepEqual(found, { complete: false, events: [START, CONTENT], cancelled: true });
});

test("f019_ a connection that falls silent is given up", async () => {
  const found = await read(
    readerOf(bytes(frames(START)), () => new Promise(() => {})),
    { timeoutMs: 5 },
  );
  assert.deepEqual(found, { complete: false, events: [START], cancelled: true });
});

test("a reader who stops is told apart from a connection that breaks", async () => {
  const abort = new AbortController();
  const stopping = () => {
    abort.abort();
    throw abort.signal.reason;
  };
  await assert.rejects(read(readerOf(bytes(frames(START)), stopping), { signal: abort.signal }), {
    name: "AbortError",
  });
});

test("a frame that holds no event is passed over", async () => {
  const found = await read(readerOf(bytes(`data: {broken\n\ndata: 7\n\n${frames(DONE)}`)));
  assert.equal(found.complete, true);
});

test("a fault in the page itself is not taken for a broken connection", async () => {
  const fault = new TypeError("a bug");
  await assert.rejects(
    readEvents(
      readerOf(bytes(frames(START))),
      () => {
        throw fault;
      },
      undefined,
      60_000,
    ),
    fault,
  );
});
