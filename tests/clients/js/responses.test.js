// The AI SDK's provider for OpenAI, which speaks `/v1/responses`, against the scripted model.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, streamText, tool } from "ai";

import { PATHS, SEARCHED, WEATHER, script } from "./support/script.js";

const openai = createOpenAI({ baseURL: `${process.env.LAMBDA_CHAT_URL}/v1`, apiKey: process.env.OPENAI_API_KEY ?? "local" });

for (const name of PATHS) {
  describe(`tools ${name}`, { concurrency: true }, () => {
    test("a stream has text, reasoning, sources and usage", async () => {
      const result = streamText({ model: openai(name), prompt: script(...SEARCHED) });
      const parts = [];
      for await (const part of result.fullStream) parts.push(part);
      assert.deepEqual(parts.filter((part) => part.type === "error"), []);
      assert.equal(await result.text, "A chat backend 🙂 [1].");
      assert.equal(await result.reasoningText, "A page says it. ");
      assert.ok((await result.sources).some((source) => /^http:\/\/127\.0\.0\.1:\d+\/demo\/en\//.test(source.url)));
      assert.equal((await result.usage).inputTokens, 222);
    });

    test("a function runs between two stored responses", async () => {
      const cities = [];
      const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] });
      const execute = ({ city }) => (cities.push(city), "sunny");
      const result = await generateText({
        model: openai(name),
        prompt: script([WEATHER], ["It is sunny."]),
        tools: { get_weather: tool({ description: "The weather.", inputSchema, execute }) },
        stopWhen: isStepCount(3),
      });
      assert.deepEqual([result.text, cities], ["It is sunny.", ["Paris"]]);
    });
  });
}
