// The setup guide: from the demo to a real model, and the check whether it works.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, assertFits, SCREENS } from "../support/axe.js";
import { setUp } from "../support/fixture.js";

/** Without a model, the server has its demo only. */
const NO_MODEL = { OPENAI_BASE_URL: "", OPENAI_MODEL: "", OPENAI_API_KEY: "", TAVILY_BASE_URL: "", TAVILY_API_KEY: "" };

const guide = (page) => page.getByRole("dialog", { name: "Use a real model" });

/** The commands of the guide, once it is open. */
async function codes(page) {
  await guide(page).waitFor();
  return guide(page).locator("li code").allTextContents();
}

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
  await guide(page).getByLabel("Provider").selectOption("Ollama");
  assert.match((await codes(page))[0], /^ollama pull .*\nexport OLLAMA_API_URL=/);
  await guide(page).getByLabel("Runs on").selectOption("AWS Lambda");
  assert.match((await codes(page))[0], /OllamaApiUrl: /);
  await guide(page).getByLabel("Provider").selectOption("Anthropic Claude");
  assert.deepEqual((await codes(page))[0].split("\n"), [
    "aws ssm put-parameter --type SecureString --name /lambda-chat/models/anthropic --value YOUR_KEY",
    "cat >> parameters.yaml <<'END'",
    "ModelKeysUnder: /lambda-chat/models/",
    `Models: '[{"name":"anthropic","wire":"anthropic","model":"claude-haiku-5-5","apiKeyParameter":"/lambda-chat/models/anthropic"}]'`,
    "END",
  ]);
  await guide(page).getByLabel("Runs on").selectOption("A computer or container");
  await guide(page).getByLabel("Provider").selectOption("Google Gemini");
  assert.equal((await codes(page))[0], "export GEMINI_API_KEY=YOUR_KEY\nexport GEMINI_MODEL=gemini-3.8-flash");
  await guide(page).getByLabel("Runs on").selectOption("AWS Lambda");
  await guide(page).getByLabel("Provider").selectOption("Volcengine Ark");
  const [model, search, start] = await codes(page);
  assert.match(model, /ssm put-parameter .*\/lambda-chat\/ark .*\n.*\nArkModel: .*\nArkApiKeyParameter: \/lambda-chat\/ark\n/);
  assert.match(search, /TavilyApiKeyParameter: \/lambda-chat\/tavily/);
  assert.equal(start, "sam build && sam deploy");
  await guide(page).getByRole("button", { name: "Copy the commands: Set up the model" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), model);
});

test("the commands of the guide are whole on a phone", async (t) => {
  const { page } = await openGuide(t, { viewport: { width: 390, height: 844 } });
  await guide(page).getByLabel("Runs on").selectOption("AWS Lambda");
  await guide(page).getByText("OpenaiApiKeyParameter").waitFor();
  assert.deepEqual(await guide(page).locator("pre").evaluateAll((all) => all.map((pre) => pre.scrollWidth - pre.clientWidth)), [0, 0, 0]);
});

test("the guide has commands for Bedrock without a key, first on AWS", async (t) => {
  const { page, url, watch } = await openGuide(t);
  await guide(page).getByLabel("Provider").selectOption("Amazon Bedrock (no key)");
  assert.match((await codes(page))[0], /^eval .*\nexport AWS_REGION=.*\nexport BEDROCK_MODEL=/);
  assert.equal((await codes(page))[1], "export SEARCH_PROVIDER=aws");

  // The same server under a name is not on AWS; these requests leave no machine.
  let onLambda = false;
  await page.route("https://chat.example/**", async (route) => {
    const address = new URL(route.request().url());
    // The server on loopback rejects the origin of another host, which a part's request names.
    const { origin: _, ...headers } = route.request().headers();
    const response = await route.fetch({ url: new URL(address.pathname + address.search, url).href, headers });
    const isAuth = address.pathname === "/api/auth" && onLambda;
    await route.fulfill(isAuth ? { response, json: { mode: "none", onLambda } } : { response });
  });
  await page.goto("https://chat.example/");
  await page.locator("#demo-more").click();
  assert.match((await codes(page))[0], /^export OPENAI_API_KEY=/);
  onLambda = true;
  await page.goto("https://chat.example/");
  await page.locator("#demo-more").click();
  assert.equal(await guide(page).getByLabel("Provider").locator("option:checked").textContent(), "Amazon Bedrock (no key)");
  const [model, search] = await codes(page);
  assert.match(model, /^cat >> parameters.yaml .*\nBedrockModel: .*\nEND$/);
  assert.match(search, /\nSearchProvider: aws\n/);
  watch.requests.splice(0, watch.requests.length, ...watch.requests.filter((one) => !one.startsWith("https://chat.example/")));
});

test("the check reports the demo, then a model that fails, then one that works", async (t) => {
  const { page, model, restart } = await openGuide(t);
  const check = guide(page).getByRole("button", { name: "Test this server’s models" });
  const row = guide(page).locator(".check-results li");
  await check.waitFor();
  const primary = await guide(page).locator(".button.primary").evaluateAll((buttons) => buttons.map((button) => button.ariaLabel));
  assert.deepEqual(primary, ["Copy the commands: Set up the model"], "a newcomer copies first");
  await guide(page).getByLabel("Runs on").selectOption("AWS Lambda");
  assert.equal(await check.count(), 0, "it would test another server");
  await guide(page).getByLabel("Runs on").selectOption("A computer or container");
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
