// The published package `openai` against the server with a scripted model (see support/stage.js).

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import OpenAI from "openai";

import {
  PATHS,
  SEARCH,
  SEARCHED,
  WEATHER,
  fetchOfPage,
  release,
  script,
  waitForDisconnect,
  waitUntilHeld,
} from "./support/script.js";

const GET_WEATHER = {
  name: "get_weather",
  description: "The weather in a city now.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const tools = [{ type: "function", function: GET_WEATHER }];
const GUARDED = { baseURL: `${process.env.GUARDED_URL}/v1`, maxRetries: 0 };
const KEY = JSON.parse(process.env.GUARDED_KEYS)["openai-js"];

const client = new OpenAI({ maxRetries: 0 });
const user = (content) => [{ role: "user", content }];
const create = (model, text, more, options) =>
  client.chat.completions.create({ model, messages: user(text), ...more }, options);
const textOf = async (stream) => {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
  return text;
};

for (const model of PATHS) {
  describe(`tools ${model}`, { concurrency: true }, () => {
    test("a stream equals the whole answer", async () => {
      const whole = await create(model, script(...SEARCHED));
      const [{ message, finish_reason }] = whole.choices;
      assert.deepEqual([message.content, finish_reason], ["A chat backend 🙂 [1].", "stop"]);
      assert.deepEqual([message.tool_calls, message.reasoning_content], [undefined, "A page says it. "]);
      const { start_index, end_index, url } = message.annotations[0].url_citation;
      // The indices count code points, not UTF-16 code units.
      assert.equal([...message.content].slice(start_index, end_index).join(""), "[1]");
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/demo\/en\//);
      const options = { model, messages: user(script(...SEARCHED)), stream_options: { include_usage: true } };
      const streamed = await client.chat.completions.stream(options).finalChatCompletion();
      assert.equal(streamed.choices[0].message.content, message.content);
      assert.deepEqual(streamed.choices[0].message.annotations, message.annotations);
      assert.deepEqual([streamed.usage, whole.usage.total_tokens], [whole.usage, 236]);
    });

    test("a long answer is complete", async () => {
      const text = script([{ repeat: ["多少个字？Many. ", 20_000] }]);
      const expected = "多少个字？Many. ".repeat(20_000);
      assert.equal((await create(model, text)).choices[0].message.content, expected);
      assert.equal(await textOf(await create(model, text, { stream: true })), expected);
    });

    test("runTools runs client tools to the answer", async () => {
      const cities = [];
      const get = ({ city }) => {
        cities.push(city);
        return "21 °C";
      };
      const own = [{ type: "function", function: { ...GET_WEATHER, function: get, parse: JSON.parse } }];
      const messages = user(script([WEATHER, { call: ["get_weather", { city: "Rome" }] }], ["Both are warm."]));
      for (const stream of [true, false]) {
        const runner = client.chat.completions.runTools({ model, messages, tools: own, stream });
        assert.equal(await runner.finalContent(), "Both are warm.");
      }
      assert.deepEqual(cities, ["Paris", "Rome", "Paris", "Rome"]);
    });

    test("the server's search stays hidden from the client", async () => {
      const streamed = client.chat.completions.stream({ model, messages: user(script([SEARCH], [WEATHER])), tools });
      const [{ message, finish_reason }] = (await streamed.finalChatCompletion()).choices;
      assert.deepEqual([message.tool_calls.length, finish_reason], [1, "tool_calls"]);
      assert.equal(message.tool_calls[0].function.arguments, '{"city":"Paris"}');
      assert.ok(message.annotations.length > 0);
    });

    test("an abort ends the turn", async () => {
      const stream = await create(model, script(["One", { hold: `js-${model}` }, " two"]), { stream: true });
      for await (const chunk of stream) if (chunk.choices[0].delta.content === "One") stream.controller.abort();
      await waitForDisconnect(`js-${model}`);
      const abort = new AbortController();
      const whole = create(model, script(["One", { hold: `js-whole-${model}` }]), {}, { signal: abort.signal });
      await Promise.all([
        assert.rejects(whole, OpenAI.APIUserAbortError),
        waitUntilHeld(`js-whole-${model}`).then(() => abort.abort()),
      ]);
      await waitForDisconnect(`js-whole-${model}`);
    });

    test("deltas arrive while the model writes", async () => {
      const stream = await create(model, script(["One", { hold: `js-slow-${model}` }, " two"]), { stream: true });
      let text = "";
      for await (const chunk of stream) {
        text += chunk.choices[0].delta.content ?? "";
        if (text === "One") await release(`js-slow-${model}`);
      }
      assert.equal(text, "One two");
    });

    test("a model failure is a status, then an event", async () => {
      for (const [status, kind, code] of [
        [401, OpenAI.InternalServerError, "upstream_auth"],
        [429, OpenAI.RateLimitError, "rate_limit_exceeded"],
      ]) {
        for (const stream of [false, true]) {
          await assert.rejects(create(model, script([{ fail: status }]), { stream }), (error) => {
            assert.ok(error instanceof kind);
            return error.code === code;
          });
        }
      }
      const stream = await create(model, script(["One", { cut: true }]), { stream: true });
      const error = await textOf(stream).catch((error) => error);
      assert.deepEqual([error instanceof OpenAI.APIError, error.code], [true, "upstream_disconnected"]);
    });
  });
}

test("each rejection has its error class", async () => {
  for (const [make, kind, code, param] of [
    [() => create("nobody", "Hi"), OpenAI.NotFoundError, "model_not_found", "model"],
    [() => create("native", "Hi", { n: 2 }), OpenAI.BadRequestError, "invalid_request", "n"],
    [() => create("native", "Hi", { tools: [{ type: "custom" }] }), OpenAI.BadRequestError, "invalid_request", "tools[0].type"],
  ]) {
    await assert.rejects(make, (error) => {
      assert.ok(error instanceof kind && error.requestID && error.error.message);
      assert.deepEqual([error.code, error.param], [code, param]);
      return true;
    });
  }
});

test("authentication and rate limit have error classes", async () => {
  const unknown = new OpenAI({ ...GUARDED, apiKey: "lc_nobody" });
  await assert.rejects(unknown.models.list(), OpenAI.AuthenticationError);
  const known = new OpenAI({ ...GUARDED, apiKey: KEY });
  const request = { model: "native", messages: user("Say hello.") };
  assert.equal((await known.chat.completions.create(request)).choices[0].message.content, "Hello!");
  await assert.rejects(known.chat.completions.create({ ...request, stream: true }), (error) => {
    const seconds = Number(error.headers.get("retry-after"));
    return error instanceof OpenAI.RateLimitError && seconds > 0 && seconds <= 60;
  });
});

test("the model list includes agents", async () => {
  const ids = (await client.models.list()).data.map((model) => model.id);
  assert.deepEqual(ids, [...PATHS, "agent:default"]);
});

test("CORS allows the client's requests", async () => {
  const page = new OpenAI({ fetch: fetchOfPage, maxRetries: 0, organization: "o", project: "p", timeout: 60_000 });
  const messages = user("Say hello.");
  assert.equal((await page.chat.completions.create({ model: "native", messages })).choices[0].message.content, "Hello!");
  assert.equal(await page.chat.completions.stream({ model: "native", messages }).finalContent(), "Hello!");
});
