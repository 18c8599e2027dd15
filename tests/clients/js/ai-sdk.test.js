// The published AI SDK, each major version: `Chat` (the state of `useChat`) and `DefaultChatTransport`.
// The SDK validates each chunk against its schema; an invalid chunk is an error of the chat.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { VERSIONS, load } from "./support/ai-sdk.js";
import { startServer } from "./support/server.js";

const SEARCH = "今天北京的天气怎么样？";

let server;
before(async () => (server = await startServer()));
after(() => server.stop());

for (const version of VERSIONS) {
  describe(`version ${version}`, { concurrency: true }, async () => {
    const { sdk, Chat } = await load(version);

    const transport = () => new sdk.DefaultChatTransport({ api: `${server.url}/api/ui/chat` });
    const chat = (options) => new Chat({ transport: transport(), ...options });
    const stored = async (message) => {
      const answer = await fetch(`${server.url}/api/conversations/${message.metadata.conversationId}`);
      return (await answer.json()).messages;
    };
    const textOf = (message) => message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");

    test("an answer has complete calls, sources and text", async () => {
      const called = [];
      const one = chat({ onToolCall: ({ toolCall }) => void called.push(toolCall) });
      await one.sendMessage({ text: SEARCH });
      assert.deepEqual([one.status, one.error, called], ["ready", undefined, []]);
      const answer = one.lastMessage;
      const of = (type) => answer.parts.filter((part) => part.type === type);
      const [call] = of("dynamic-tool");
      assert.deepEqual([call.toolName, call.state, call.providerExecuted], ["search_web", "output-available", true]);
      const sources = of("source-url").map((source) => source.url);
      assert.ok(sources.length > 0 && new Set(sources).size === sources.length);
      assert.ok(of("text").every((part) => part.state === "done"));
      assert.equal(answer.metadata.finishReason, "stop");
      assert.ok(answer.metadata.usage.outputTokens > 0);
      const messages = await stored(answer);
      assert.deepEqual([messages.at(-1).id, messages.at(-1).content], [answer.id, textOf(answer)]);
    });

    test("a chat continues without automatic resends", async () => {
      const sendAutomaticallyWhen = sdk.lastAssistantMessageIsCompleteWithToolCalls;
      const one = chat({ sendAutomaticallyWhen });
      await one.sendMessage({ text: SEARCH });
      await one.sendMessage({ text: "谢谢" });
      assert.deepEqual(one.messages.map((message) => message.role), ["user", "assistant", "user", "assistant"]);
      assert.equal((await stored(one.lastMessage)).length, 4);
    });

    test("regenerating replaces the last answer", async () => {
      const one = chat();
      await one.sendMessage({ text: "你好" });
      const first = one.lastMessage.id;
      await one.regenerate();
      assert.deepEqual([one.status, one.messages.length], ["ready", 2]);
      assert.notEqual(one.lastMessage.id, first);
      assert.deepEqual((await stored(one.lastMessage)).map((message) => message.id).slice(1), [one.lastMessage.id]);
    });

    test("regenerating works with ids only", async () => {
      const prepareSendMessagesRequest = ({ id, messages, trigger, messageId }) =>
        trigger === "submit-message"
          ? { body: { id, trigger, message: messages.at(-1) } }
          : { body: { id, trigger, messageId } };
      const api = `${server.url}/api/ui/chat`;
      const one = new Chat({ transport: new sdk.DefaultChatTransport({ api, prepareSendMessagesRequest }) });
      await one.sendMessage({ text: "你好" });
      await one.regenerate();
      assert.deepEqual([one.status, (await stored(one.lastMessage)).length], ["ready", 2]);
    });

    test("another client resumes a stream from its start", async () => {
      const first = chat();
      const sent = first.sendMessage({ text: SEARCH });
      while (first.status !== "streaming") await new Promise((resolve) => setTimeout(resolve, 5));
      const second = chat({ id: first.id, messages: [first.messages[0]] });
      await second.resumeStream();
      await sent;
      assert.deepEqual([second.status, second.error], ["ready", undefined]);
      assert.deepEqual(second.lastMessage, first.lastMessage);
      for (const chatId of [first.id, "unseen"]) {
        assert.equal(await transport().reconnectToStream({ chatId }), null);
      }
    });

    test("a disconnect does not stop the answer", async () => {
      const one = chat();
      const sent = one.sendMessage({ text: SEARCH });
      while (one.status !== "streaming") await new Promise((resolve) => setTimeout(resolve, 5));
      await one.stop();
      await sent;
      await one.resumeStream();
      assert.deepEqual([one.status, one.lastMessage.metadata.finishReason], ["ready", "stop"]);
      assert.equal((await stored(one.lastMessage)).at(-1).content, textOf(one.lastMessage));
    });

    test("a stopped turn keeps its partial parts", async () => {
      const one = chat();
      const sent = one.sendMessage({ text: SEARCH });
      while (!one.lastMessage?.metadata) await new Promise((resolve) => setTimeout(resolve, 5));
      const { conversationId } = one.lastMessage.metadata;
      const stop = await fetch(`${server.url}/api/conversations/${conversationId}/stop`, { method: "POST" });
      assert.deepEqual([stop.status, await stop.json()], [202, { stopping: true }]);
      await sent;
      assert.deepEqual([one.status, one.error, one.lastMessage.metadata.finishReason], ["ready", undefined, "stopped"]);
      assert.ok(one.lastMessage.parts.every((part) => part.state !== "streaming" && part.state !== "input-available"));
    });

    test("a rejected message can be sent again", async () => {
      const one = chat();
      const files = [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AA==" }];
      await one.sendMessage({ text: "看", files });
      assert.equal(one.status, "error");
      assert.match(one.error.message, /^The type of the file is unknown: PNG, JPEG, WebP, GIF/);
      await one.sendMessage({ text: "你好" }, { body: { modelType: "nobody" } });
      assert.match(one.error.message, /^`modelType` names no model; there are: demo$/);
      await one.regenerate();
      assert.deepEqual([one.status, (await stored(one.lastMessage)).length], ["ready", 2]);
    });

    test("readUIMessageStream reads the whole answer", async () => {
      const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "你好" }] }];
      const stream = await transport().sendMessages({ chatId: `read-${version}`, messages, trigger: "submit-message" });
      let last;
      for await (const message of sdk.readUIMessageStream({ stream, terminateOnError: true })) last = message;
      assert.equal((await stored(last)).at(-1).content, textOf(last));
    });
  });
}
