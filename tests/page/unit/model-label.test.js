// How models are called where one is chosen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { labelOf } from "../../../functions/chat/page/src/state/model-label.ts";

const labels = (...models) => models.map(({ name }) => labelOf(name, models));

test("a built-in model has the label of its id, others of their names", () => {
  const models = [{ name: "openai", model: "gpt-4o" }, { name: "local", model: "qwen3:8b" }, { name: "fast", model: "gpt-4o-mini" }];
  assert.deepEqual(labels(...models), ["gpt-4o", "qwen3:8b", "fast"]);
  assert.equal(labelOf("openai", []), "openai", "the models are not known yet");
});

test("ids of endpoints and resources are no labels", () => {
  assert.deepEqual(labels({ name: "volcano", model: "ep-20250101-abcde" }), ["volcano"]);
  assert.deepEqual(labels({ name: "bedrock", model: "arn:aws:bedrock:us-east-1:1:inference-profile/x" }), ["bedrock"]);
});

test("two models never have the same label", () => {
  assert.deepEqual(labels({ name: "volcano", model: "deepseek-v3" }, { name: "openai", model: "deepseek-v3" }), ["volcano", "openai"]);
  assert.deepEqual(labels({ name: "openai", model: "gpt-5" }, { name: "gpt-5", model: "gpt-5-mini" }), ["openai", "gpt-5"]);
});
