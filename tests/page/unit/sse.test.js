// The event stream parser: each transcript is split at every position and must give the same events.

import assert from "node:assert/strict";
import { test } from "node:test";

import { SseParser } from "../../../functions/chat/page/src/api/sse.ts";

const message = (data, id = "", event = "message") => ({ id, event, data });

const CASES = {
  "a turn": {
    text: 'id: t-1\ndata: {"type":"start"}\n\n: keep-alive\n\nid: t-2\ndata: {"type":"content","content":"好的，🌦"}\n\ndata: [DONE]\n\n',
    events: [
      message('{"type":"start"}', "t-1"),
      message('{"type":"content","content":"好的，🌦"}', "t-2"),
      message("[DONE]", "t-2"),
    ],
  },
  "line ends of every kind": {
    text: "data: a\r\rdata: b\r\n\r\ndata: c\n\ndata: d\r\n\ndata: e\r\n\r\n\r\n",
    events: ["a", "b", "c", "d", "e"].map((data) => message(data)),
  },
  "a byte-order mark, once": {
    text: "\uFEFFdata: a\n\n\uFEFFdata: b\n\ndata: c\n\n",
    events: [message("a"), message("c")],
  },
  "fields with odd spaces, without a colon, and unknown ones": {
    text: "data:a\n\ndata:  b\n\ndata\n\nretry: 10\nfoo: x\ndata: c\n\n data: no\n\n",
    events: [message("a"), message(" b"), message(""), message("c")],
  },
  "several lines of data": {
    text: "data: a\ndata:\ndata: b\n\n",
    events: [message("a\n\nb")],
  },
  "event types and ids": {
    text: "event: x\nid: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: 2\0\ndata: d\n\nevent: y\n\ndata: e\n\n",
    events: [message("a", "1", "x"), message("b", "1"), message("c"), message("d"), message("e")],
  },
  "an event without a blank line": { text: "data: a\n\ndata: b\n", events: [message("a")] },
  nothing: { text: "", events: [] },
};

for (const [name, { text, events }] of Object.entries(CASES)) {
  test(`${name}: same events at every split`, () => {
    for (let at = 0; at <= text.length; at += 1) {
      const parser = new SseParser();
      assert.deepEqual([...parser.push(text.slice(0, at)), ...parser.push(text.slice(at))], events, `split at ${at}`);
    }
  });

  test(`${name}: same events for single characters`, () => {
    const parser = new SseParser();
    assert.deepEqual(
      text.split("").flatMap((char) => parser.push(char)),
      events,
    );
  });
}

test("complete events are returned at once", () => {
  const parser = new SseParser();
  assert.deepEqual(parser.push("data: a\r\r"), [message("a")]);
  assert.deepEqual(parser.push("\ndata: b\n"), []);
  assert.deepEqual(parser.push("\n"), [message("b")]);
});

test("single characters parse in linear time", { timeout: 10_000 }, () => {
  const parser = new SseParser();
  parser.push("data: ");
  for (let n = 0; n < 1_000_000; n += 1) parser.push("x");
  assert.equal(parser.push("\n\n")[0].data.length, 1_000_000);
});
