// The setup guide: from the demo to a real model, and the check whether it works.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, assertFits, SCREENS } from "../support/axe.js";
import { setUp } from "../support/fixture.js";

/** Without a model, the server has its demo only. */
const NO_MODEL = { OPENAI_BASE_URL: "", OPENAI_MODEL: "", OPENAI_API_KEY: "", TAVILY_BASE_URL: "", TAVILY_API_KEY: "" };

const guide = (page) => page.getByRole("dialog", { name: "Use a real model" });
const codes = (page) => guide(page).locator("li code").allTextContents();

async function openGuide(t, context = {}) {
  const fixture = await setUp(t, { settings: NO_MODEL, context });
  await fixture.page.goto(fixture.url);
  await fixture.page.locator("#demo-more").click();
  return fixture;
}

test("the guide has commands for each provider and place", async (t) => {
  const { page } = await openGuide(t, { permissions: ["clipboard-read", "clipboard-write"] });
  assert.deepEqual(await codes(page), [
    "export OPENAI_API_KEY=YOUR_KEY\nexport OPENAI_MODEL=gpt-4o-mini\n# for another service: export OPENAI_BASE_URL=https://api.example.com/v1",
    "export TAVILY_API_KEY=YOUR_KEY",
    "cargo run",
  ]);
  await guide(page).getByLabel("Model from").selectOption("Ollama");
  assert.match((await codes(page))[0], /^ollama pull .*\nexport OLLAMA_API_URL=/);
  await guide(page).getByLabel("Runs on").selectOption("AWS Lambda");
  assert.match((await codes(page))[0], /OllamaApiUrl: /);
  await guide(page).getByLabel("Model from").selectOption("Volcengine Ark");
  const [model, search, start] = await codes(page);
  assert.match(model, /ssm put-parameter .*\/lambda-chat\/ark .*\n.*\nArkModel: .*\nArkApiKeyParameter: \/lambda-chat\/ark\n/);
  assert.match(search, /TavilyApiKeyParameter: \/lambda-chat\/tavily/);
  assert.equal(start, "sam build && sam deploy");
  await guide(page).getByRole("button", { name: "Copy the commands: Name the model" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), model);
});

test("the check reports the demo, then a model that fails, then one that works", async (t) => {
  const { page, model, restart } = await openGuide(t);
  const check = guide(page).getByRole("button", { name: "Does it work now?" });
  const row = guide(page).locator(".check-results li");
  await check.click();
  await row.getByText("This is the demo. The server has no other model.").waitFor();

  const settings = { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: "test-model", OPENAI_API_KEY: "model-key" };
  await restart(settings);
  await check.click();
  (await model.next()).fail(401);
  await row.getByText("The model’s provider rejected the server’s key.").waitFor();
  await row.getByText("upstream_auth").waitFor();
  assert.equal(await guide(page).getByRole("button", { name: "Start chatting" }).count(), 0);

  await check.click();
  const reply = await model.next();
  assert.equal(reply.body.messages.at(-1).content, "Reply with OK.");
  assert.equal(reply.body.tools, undefined);
  reply.sendText("OK");
  reply.end();
  await row.getByText(/^Works, answered in /).waitFor();
  await assertAccessible(page, "#setup-dialog");
  await guide(page).getByRole("button", { name: "Start chatting" }).click();
  await page.getByText("Your conversations will appear here.").waitFor();
  assert.equal(await page.locator("#demo").isVisible(), false);
});

for (const { name, options } of SCREENS) {
  test(`the guide is accessible and fits on a ${name}`, async (t) => {
    const { page } = await openGuide(t, options);
    const dialog = page.locator("#setup-dialog");
    await dialog.waitFor();
    await assertAccessible(page, "#setup-dialog");
    await assertFits(dialog);
  });
}
