// Reads the events of a turn from the bytes of a response: complete, failed, broken and aborted streams.

import assert from "node:assert/strict";
import { test } from "node:test";

import { readEvents } from "../../../functions/chat/page/src/api/client.ts";

const START = { type: "start", conversationId: "c", messageId: "m", model: "m" };
const CONTENT = { type: "content", content: "根据搜索结果，🌤 明天多云。" };
const DONE = { type: "done", finishReason: "stop" };

const frames = (...events) => events.map((event, n) => `id: t-${n + 1}\ndata: ${JSON.stringify(event)}\n\n`).join("");

/** A reader of these chunks. It throws errors, calls functions, and ends after the last chunk. */
function readerOf(...chunks) {
  const reader = {
    cancelled: false,
    async read() {
      const chunk = chunks.shift();
      if (chunk instanceof Error) throw chunk;
      if (typeof chunk === "function") return chunk();
      return chunk === undefined ? { done: true } : { done: false, value: chunk };
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

test("the events do not depend on chunk boundaries", async () => {
  const all = bytes(`${frames(START, CONTENT, DONE)}data: [DONE]\n\n`);
  for (let at = 0; at <= all.length; at += 1) {
    const result = await read(readerOf(all.slice(0, at), all.slice(at)));
    assert.deepEqual(result, { complete: true, events: [START, CONTENT, DONE], cancelled: true }, `split at ${at}`);
  }
});

test("events after the end event are ignored", async () => {
  const result = await read(readerOf(bytes(frames(START, DONE, CONTENT))));
  assert.deepEqual(result.events, [START, DONE]);
});

test("an error event ends the turn", async () => {
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

test("f021_ a stream without end event is incomplete", async () => {
  assert.equal((await read(readerOf(bytes(frames(START, CONTENT))))).complete, false);
  assert.equal((await read(readerOf(bytes(`${frames(START, CONTENT)}data: [DONE]\n\n`)))).complete, false);
});

test("f020_ a broken connection keeps the received events", async () => {
  const result = await read(readerOf(bytes(frames(START, CONTENT)), new TypeError("network error")));
  assert.deepEqual(result, { complete: false, events: [START, CONTENT], cancelled: true });
});

test("f019_ an idle connection times out", async () => {
  const result = await read(
    readerOf(bytes(frames(START)), () => new Promise(() => {})),
    { timeoutMs: 5 },
  );
  assert.deepEqual(result, { complete: false, events: [START], cancelled: true });
});

test("an abort differs from a broken connection", async () => {
  const abort = new AbortController();
  const aborting = () => {
    abort.abort();
    throw abort.signal.reason;
  };
  await assert.rejects(read(readerOf(bytes(frames(START)), aborting), { signal: abort.signal }), {
    name: "AbortError",
  });
});

test("a frame without an event is skipped", async () => {
  const result = await read(readerOf(bytes(`data: {broken\n\ndata: 7\n\n${frames(DONE)}`)));
  assert.equal(result.complete, true);
});

test("an error in a listener is rethrown", async () => {
  const error = new TypeError("a bug");
  await assert.rejects(
    readEvents(
      readerOf(bytes(frames(START))),
      () => {
        throw error;
      },
      undefined,
      60_000,
    ),
    error,
  );
});
