// The AI SDK against the scripted model, with native tools and with tools in the prompt.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";

import { VERSIONS, load } from "./support/ai-sdk.js";
import { PATHS, SEARCHED, fetchOfPage, release, script, waitForDisconnect, waitUntilHeld } from "./support/script.js";

const { LAMBDA_CHAT_URL: ROOT, GUARDED_URL: GUARDED } = process.env;
const KEY = JSON.parse(process.env.GUARDED_KEYS)["ai-sdk"];
const textOf = (message) => message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
const heldScript = (answer, key) => script([answer, { hold: key }, "."]);

for (const version of VERSIONS) {
  const { sdk, Chat } = await load(version);
  const transport = (options) => new sdk.DefaultChatTransport({ api: `${ROOT}/api/ui/chat`, ...options });
  const chat = (options, sent) => new Chat({ transport: transport(sent), ...options });

  for (const model of PATHS) {
    const request = { body: { modelType: model } };
    /** A chat whose reply is held after its first delta, which the chat has received. */
    const holding = async (key) => {
      const one = chat({}, request);
      const sent = one.sendMessage({ text: heldScript("One", key) });
      await waitUntilHeld(key);
      while (!one.lastMessage || textOf(one.lastMessage) !== "One") await new Promise(setImmediate);
      return { one, sent };
    };

    describe(`version ${version}, tools ${model}`, { concurrency: true }, () => {
      test("reasoning, calls, sources and text become parts", async () => {
        const one = chat({}, request);
        await one.sendMessage({ text: script(...SEARCHED) });
        assert.deepEqual([one.status, one.error], ["ready", undefined]);
        const parts = one.lastMessage.parts.map((part) => part.text ?? part.state ?? part.type);
        const sources = parts.filter((part) => part === "source-url");
        assert.ok(sources.length > 0);
        assert.deepEqual(
          parts.filter((part) => part !== "source-url"),
          ["step-start", "output-available", "step-start", "A page says it. ", "A chat backend 🙂 [1]."],
        );
        const { usage, conversationId, model: wrote } = one.lastMessage.metadata;
        assert.deepEqual([usage.inputTokens, usage.outputTokens, wrote], [222, 14, model]);
        assert.ok(conversationId);
      });

      test("concurrent calls each have a result", async () => {
        const queries = ["What is Lambda Chat?", "How is a model configured?"];
        const calls = queries.map((query) => ({ call: ["search_web", { query }] }));
        const one = chat({}, request);
        await one.sendMessage({ text: script(calls, ["Both."]) });
        const tools = one.lastMessage.parts.filter((part) => part.type === "dynamic-tool");
        assert.deepEqual(tools.map((part) => part.input.query), queries);
        assert.deepEqual(new Set(tools.map((part) => part.state)), new Set(["output-available"]));
        assert.equal(new Set(tools.map((part) => part.toolCallId)).size, 2);
      });

      test("a long answer is complete", async () => {
        const one = chat({}, request);
        await one.sendMessage({ text: script([{ repeat: ["多少个字？Many. ", 2_000] }]) });
        assert.equal(textOf(one.lastMessage), "多少个字？Many. ".repeat(2_000));
      });

      test("a running answer resumes once", async () => {
        const key = randomUUID();
        const { one, sent } = await holding(key);
        await one.stop();
        await sent;
        const stream = await transport().reconnectToStream({ chatId: one.id });
        await release(key);
        let last;
        for await (const message of sdk.readUIMessageStream({ stream, terminateOnError: true })) last = message;
        assert.deepEqual([textOf(last), last.metadata.finishReason, last.id], ["One.", "stop", one.lastMessage.id]);
        assert.equal(await transport().reconnectToStream({ chatId: one.id }), null);
        await one.resumeStream();
        assert.deepEqual([one.status, one.messages.length, textOf(one.lastMessage)], ["ready", 2, "One"]);
      });

      test("a reopened chat resumes its answer", async () => {
        const key = randomUUID();
        const { one, sent } = await holding(key);
        await one.stop();
        await sent;
        const back = chat({ id: one.id, messages: one.messages }, request);
        const resumed = back.resumeStream();
        while (back.status !== "streaming") await new Promise(setImmediate);
        await release(key);
        await resumed;
        assert.deepEqual([back.status, back.messages.length, textOf(back.lastMessage)], ["ready", 2, "One."]);
      });

      test("a second message fails during a running turn", async () => {
        const key = randomUUID();
        const { one, sent } = await holding(key);
        const other = chat({ id: one.id }, request);
        await other.sendMessage({ text: "Say hello." });
        assert.deepEqual([other.status, other.error.message.endsWith(".")], ["error", true]);
        await release(key);
        await sent;
        await other.regenerate();
        assert.deepEqual([other.status, textOf(other.lastMessage)], ["ready", "Hello!"]);
      });

      test("a stopped turn frees the chat and model", async () => {
        const key = randomUUID();
        const { one, sent } = await holding(key);
        const { conversationId } = one.lastMessage.metadata;
        await fetch(`${ROOT}/api/conversations/${conversationId}/stop`, { method: "POST" });
        await Promise.all([sent, waitForDisconnect(key)]);
        assert.deepEqual([one.lastMessage.metadata.finishReason, textOf(one.lastMessage)], ["stopped", "One"]);
        await one.sendMessage({ text: "Say hello." });
        assert.deepEqual([one.status, textOf(one.lastMessage)], ["ready", "Hello!"]);
      });

      test("a model failure keeps the partial text", async () => {
        for (const [steps, code, before] of [
          [[{ fail: 401 }], "upstream_auth", ""],
          [[{ fail: 429 }], "rate_limited", ""],
          [["One", { cut: true }], "upstream_disconnected", "One"],
        ]) {
          const one = chat({}, request);
          await one.sendMessage({ text: script(steps) });
          assert.match(one.error.message, /^The .*\.$/);
          assert.deepEqual([one.status, one.lastMessage.metadata.error.code], ["error", code]);
          assert.equal(textOf(one.lastMessage), before);
        }
      });
    });
  }

  describe(`version ${version}`, () => {
    test("users with equal chat ids are separate", async () => {
      const id = randomUUID();
      const of = (user) => chat({ id }, { headers: { "x-user-id": user } });
      const [ann, bob] = [of("ann"), of("bob")];
      for (const one of [ann, bob]) await one.sendMessage({ text: "Say hello." });
      const [hers, his] = [ann, bob].map((one) => one.lastMessage.metadata.conversationId);
      assert.notEqual(hers, his);
      const seen = await fetch(`${ROOT}/api/conversations/${hers}`, { headers: { "x-user-id": "bob" } });
      assert.equal(seen.status, 404);
    });

    test("CORS allows the transport's requests", async () => {
      const one = chat({}, { fetch: fetchOfPage, headers: { "x-api-key": "any" } });
      await one.sendMessage({ text: "Say hello." });
      assert.equal(textOf(one.lastMessage), "Hello!");
    });

    test("stored messages are valid and convertible", async () => {
      const one = chat();
      await one.sendMessage({ text: script(...SEARCHED) });
      const messages = JSON.parse(JSON.stringify(one.messages));
      assert.deepEqual(await sdk.validateUIMessages({ messages }), messages);
      const converted = await sdk.convertToModelMessages(messages);
      assert.deepEqual([converted.at(0).role, converted.at(-1).role], ["user", "assistant"]);
    });

    test("an agent answers and a missing one fails", async () => {
      const one = chat({}, { body: { agentId: "default" } });
      await one.sendMessage({ text: "Say hello." });
      assert.equal(textOf(one.lastMessage), "Hello!");
      const none = chat({}, { body: { agentId: "nobody" } });
      await none.sendMessage({ text: "Say hello." });
      assert.match(none.error.message, /agent/i);
    });
  });
}

test("authentication and rate limit are errors", async () => {
  const { sdk, Chat } = await load(7);
  const transport = (key) => new sdk.DefaultChatTransport({ api: `${GUARDED}/api/ui/chat`, headers: { "x-api-key": key } });
  const unknown = new Chat({ transport: transport("lc_nobody") });
  await unknown.sendMessage({ text: "Say hello." });
  assert.equal(unknown.status, "error");
  const known = new Chat({ transport: transport(KEY) });
  await known.sendMessage({ text: "Say hello." });
  assert.equal(textOf(known.lastMessage), "Hello!");
  await known.sendMessage({ text: "Say hello." });
  assert.match(known.error.message, /^Too many requests\./);
});
