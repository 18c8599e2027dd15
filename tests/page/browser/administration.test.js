// The administration: agents, tools, keys, tool calls, models and usage, without a command line.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";

import { assertAccessible, assertFits, SCREENS } from "../support/axe.js";
import { exchange, lastAnswer, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";
import { converse } from "../support/library.js";

const admin = (page) => page.locator("#admin");

async function open(t, options) {
  const fixture = await setUp(t, { settings: { ALLOW_PRIVATE_TOOLS: "yes" }, ...options });
  await fixture.page.goto(fixture.url);
  return fixture;
}

async function openAdministration(page, tab) {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Open administration" }).click();
  await openPanel(page, tab);
}

const openPanel = (page, name) => admin(page).getByRole("navigation").getByRole("link", { name, exact: true }).click();

const get = async (url, path) => (await fetch(`${url}${path}`)).json();

test("an agent is created, changed and deleted", async (t) => {
  const { page, url } = await open(t);
  await openAdministration(page, "Agents");
  await admin(page).getByRole("link", { name: "New agent" }).click();
  const form = page.locator("#agent-form");
  await form.getByLabel("Name", { exact: true }).fill("News");
  await form.getByLabel("Description").fill("Knows what happened today.");
  await form.getByLabel("System prompt").fill("You are an editor.");
  await form.getByLabel("All built-in tools").uncheck();
  await form.getByLabel("search_web", { exact: true }).check();
  await form.getByLabel("Fixed arguments for search_web (JSON)").fill("{mode");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByText("“Fixed arguments for search_web (JSON)” is not valid JSON.").waitFor();
  await form.getByLabel("Fixed arguments for search_web (JSON)").fill('{"mode": "quick"}');
  await form.getByLabel("Search in advance").selectOption("Put results in the prompt");
  await form.getByLabel("Maximum tool rounds").fill("2");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  await admin(page).getByText("Knows what happened today.").waitFor();
  const find = async () => (await get(url, "/api/admin/agents")).agents.find(({ name }) => name.startsWith("News"));
  const made = await find();
  assert.deepEqual(
    [made.systemPrompt, made.preSearch, made.maxRounds, made.tools.map(({ tool, config }) => [tool, config])],
    ["You are an editor.", "context", 2, [["search_web", { mode: "quick" }]]],
  );

  await admin(page).getByRole("link", { name: "Edit: News" }).click();
  assert.equal(await form.getByLabel("System prompt").inputValue(), "You are an editor.");
  await form.getByLabel("Name", { exact: true }).fill("Newsroom");
  await form.getByRole("button", { name: "Save" }).click();
  await admin(page).getByText("Newsroom").waitFor();
  const { updatedAt: before, ...first } = made;
  const { updatedAt, ...changed } = await find();
  assert.deepEqual(changed, { ...first, name: "Newsroom" });
  assert.ok(updatedAt >= before);

  await admin(page).getByRole("button", { name: "Delete: Newsroom" }).click();
  await page.locator("#confirm-dialog").getByRole("button", { name: "Delete" }).click();
  await admin(page).getByText("Newsroom").waitFor({ state: "detached" });
  assert.equal(await find(), undefined);
});

test("a built-in agent that is saved without a change stays what it was", async (t) => {
  const { page, url } = await open(t);
  const fields = async () => {
    const { createdAt, updatedAt, ...rest } = await get(url, "/api/admin/agents/default");
    return rest;
  };
  const before = await fields();
  await openAdministration(page, "Agents");
  await admin(page).getByRole("link", { name: "Edit: Default" }).click();
  const form = page.locator("#agent-form");
  for (const field of ["Description", "System prompt", "Maximum tool rounds"]) assert.equal(await form.getByLabel(field).inputValue(), "");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  assert.deepEqual(await fields(), before);
});

test("each page has an address, and unsaved changes are confirmed", async (t) => {
  const { page, url } = await open(t);
  const heading = (name) => admin(page).getByRole("heading", { name, exact: true });
  await page.goto(`${url}/#/admin/tools`);
  await heading("Tools").waitFor();
  await page.reload();
  await heading("Tools").waitFor();
  await openPanel(page, "Agents");
  await admin(page).getByRole("link", { name: "New agent" }).click();
  const name = page.locator("#agent-form").getByLabel("Name", { exact: true });
  await name.fill("News");
  const hash = () => new URL(page.url()).hash;
  assert.equal(hash(), "#/admin/agents/new");
  const confirmation = page.locator("#confirm-dialog");
  await page.goBack();
  await confirmation.getByText("Discard your changes?").waitFor();
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual([await name.inputValue(), hash()], ["News", "#/admin/agents/new"]);
  const [question] = await Promise.all([page.waitForEvent("dialog"), page.evaluate(() => void setTimeout(() => location.reload()))]);
  assert.equal(question.type(), "beforeunload");
  await question.dismiss();
  assert.equal(await name.inputValue(), "News");
  await openPanel(page, "Keys");
  await confirmation.getByRole("button", { name: "Discard" }).click();
  await heading("Keys").waitFor();
  await page.goBack();
  await heading("New agent").waitFor();
  assert.equal(await name.inputValue(), "");
  await admin(page).getByRole("link", { name: "Close" }).click();
  await admin(page).waitFor({ state: "detached" });
  assert.equal(hash(), "#/");
  await page.getByRole("textbox", { name: "Message" }).fill("The page works again.");
  await page.goBack();
  await heading("New agent").waitFor();
  await page.goto(`${url}/#/admin/`);
  await heading("Agents").waitFor();
  await page.goto(`${url}/#/admin/agents/missing`);
  await admin(page).getByRole("alert").getByText(/./).waitFor();
});

test("unsaved changes keep the conversation beneath them", async (t) => {
  const fixture = await open(t);
  const { page, url } = fixture;
  const [first, second] = await converse(fixture, [["Tea?", "Steep it."], ["Heat?", "A pump."]]);
  for (const [id, answer] of [[first, "Steep it."], [second, "A pump."]]) {
    await page.goto(`${url}/#/c/${id}`);
    await waitForText(prose(page), answer);
  }
  await page.goto(`${url}/#/admin/agents/new`);
  await page.locator("#agent-form").getByLabel("Name", { exact: true }).fill("News");
  await page.evaluate(() => history.go(-2));
  const confirmation = page.locator("#confirm-dialog");
  await confirmation.getByRole("button", { name: "Cancel" }).click();
  assert.match(await page.title(), /^Heat\?/);
  await page.goBack();
  await confirmation.getByRole("button", { name: "Discard" }).click();
  await waitForText(prose(page), "Steep it.");
});

test("the administration leaves the open conversation as it is", async (t) => {
  const fixture = await open(t);
  const { page, model } = fixture;
  await sendMessage(page, "Tea?");
  const reply = await model.next();
  reply.sendText("Steep ");
  await prose(page).getByText("Steep").waitFor();
  await openAdministration(page, "Models");
  await admin(page).getByRole("row", { name: /test-model/ }).waitFor();
  reply.sendText("it.");
  reply.end();
  await admin(page).getByRole("link", { name: "Close" }).click();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await prose(page).getByText("Steep it.").waitFor();
});

test("a tool is created, tried, changed, imported and deleted", async (t) => {
  const host = createServer((incoming, outgoing) => {
    outgoing.writeHead(200, { "content-type": "application/json" });
    outgoing.end(JSON.stringify({ path: incoming.url, sky: "clear" }));
  });
  host.listen(0, "127.0.0.1");
  await once(host, "listening");
  t.after(() => host.close());
  const { page, url } = await open(t);
  await openAdministration(page, "Tools");
  await admin(page).getByRole("link", { name: "New tool" }).click();
  const form = page.locator("#tool-form");
  await form.getByLabel("Name", { exact: true }).fill("weather");
  await form.getByLabel("Description for the model").fill("The weather of a city.");
  await form.getByLabel("URL (https)").fill(`http://127.0.0.1:${host.address().port}/v1/{city}`);
  await form.getByLabel("Parameters (JSON Schema)").fill('{"city": {"type": "string"}}');
  await form.getByLabel("Part to use").selectOption("JMESPath");
  await form.getByLabel("Expression").fill("{sky: sky}");
  await form.getByLabel("Version").fill("2026-11");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });

  await admin(page).getByRole("link", { name: "Edit and try: weather" }).click();
  const trial = page.locator("#trial-form");
  await trial.getByLabel("Arguments (JSON)").fill('{"city": "Oslo"}');
  await trial.getByRole("button", { name: "Run" }).click();
  await admin(page).getByRole("group", { name: "Request" }).getByText("/v1/Oslo").waitFor();
  await admin(page).getByRole("group", { name: "Response" }).last().getByText("clear").waitFor();
  await admin(page).getByRole("group", { name: "What the model reads" }).getByText('{"sky":"clear"}').waitFor();
  await assertAccessible(page, "#admin");

  await form.getByLabel("Available to agents").uncheck();
  await form.getByRole("button", { name: "Save" }).click();
  await admin(page).getByText("HTTP request · Off").waitFor();
  const [row] = (await get(url, "/api/admin/tools")).tools;
  assert.deepEqual([row.enabled, row.version], [false, "2026-11"]);
  assert.deepEqual(row.responseTransform, { jmespath: "{sky: sky}" });

  await admin(page).getByRole("link", { name: "Import OpenAPI…" }).click();
  const imported = page.locator("#import-form");
  const document = {
    openapi: "3.1.0",
    info: { title: "Tides", version: "1" },
    servers: [{ url: "https://tides.example" }],
    paths: { "/now": { get: { operationId: "tides_now", summary: "The tide now.", responses: {} } } },
  };
  await imported.getByLabel("Document (JSON)").fill(JSON.stringify(document));
  await imported.getByRole("button", { name: "Run" }).click();
  await admin(page).locator(".trial").getByText("tides_now").waitFor();
  assert.equal((await get(url, "/api/admin/tools")).tools.length, 1, "a check stores nothing");
  await imported.getByLabel("Only check, don’t save").uncheck();
  const stored = page.waitForResponse((response) => response.url().endsWith("/import") && response.ok());
  await imported.getByRole("button", { name: "Run" }).click();
  await stored;
  await admin(page).getByRole("link", { name: "← Tools" }).click();
  await admin(page).getByText("tides_now").waitFor();
  await admin(page).getByRole("button", { name: "Delete: tides_now" }).click();
  await page.locator("#confirm-dialog").getByRole("button", { name: "Delete" }).click();
  await admin(page).getByText("tides_now").waitFor({ state: "detached" });
});

test("an MCP server is a tool of its own kind, and errors name the field", async (t) => {
  const { page, url } = await open(t);
  await openAdministration(page, "Tools");
  await admin(page).getByRole("link", { name: "New tool" }).click();
  const form = page.locator("#tool-form");
  await form.getByLabel("Kind").selectOption("MCP server");
  assert.equal(await form.getByLabel("Parameters (JSON Schema)").isVisible(), false);
  await form.getByLabel("Name", { exact: true }).fill("docs server");
  await form.getByLabel("Description for the model").fill("The documentation.");
  await form.getByLabel("URL (https)").fill("https://mcp.example.com/mcp");
  await form.getByLabel("Type", { exact: true }).selectOption("Bearer token");
  await form.getByLabel("Secret name").fill("TOOL_SECRET_DOCS");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByRole("alert").getByText(/name/).waitFor();
  await form.getByLabel("Name", { exact: true }).fill("docs");
  await form.getByRole("button", { name: "Save" }).click();
  await admin(page).getByText("MCP server").waitFor();
  const [row] = (await get(url, "/api/admin/tools")).tools;
  assert.equal(row.type, "mcp");
  assert.deepEqual(row.endpoint.auth, { type: "bearer", secret: { env: "TOOL_SECRET_DOCS" } });
});

test("a group with a comma survives a change of its agent", async (t) => {
  const { page, url } = await open(t);
  const groups = ["CN=Legal,OU=Teams", "sales"];
  const agent = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: "Lawyer", groups }) };
  assert.equal((await fetch(`${url}/api/admin/agents`, agent)).status, 201);
  await openAdministration(page, "Agents");
  await admin(page).getByRole("link", { name: "Edit: Lawyer" }).click();
  const form = page.locator("#agent-form");
  await form.getByLabel("Description").fill("Knows the law.");
  await form.getByRole("button", { name: "Save" }).click();
  await admin(page).getByText("Knows the law.").waitFor();
  const { agents } = await get(url, "/api/admin/agents");
  assert.deepEqual(agents.find(({ name }) => name === "Lawyer").groups, groups);
});

test("a key is shown once, changed and revoked", async (t) => {
  const { page, url } = await open(t);
  await openAdministration(page, "Keys");
  await admin(page).getByRole("link", { name: "New key" }).click();
  const form = page.locator("#key-form");
  await form.getByLabel("User", { exact: true }).fill("ann");
  await form.getByLabel(/^Days until it expires/).fill("30");
  await form.getByRole("button", { name: "Save" }).click();
  const shown = page.locator("#new-key");
  const key = await shown.getByRole("textbox").inputValue();
  assert.ok(key.length > 40);
  await assertAccessible(page, "#new-key");
  await shown.getByRole("button", { name: "Close" }).click();
  await admin(page).getByRole("row", { name: /ann.*Active/ }).waitFor();
  assert.equal((await page.content()).includes(key), false);

  await admin(page).getByRole("link", { name: "Edit: ann" }).click();
  await form.getByLabel("Administrator").check();
  await form.getByLabel(/^Days until it expires/).fill("");
  await form.getByRole("button", { name: "Save" }).click();
  await admin(page).getByRole("row", { name: /ann · Administrator.*Never/ }).waitFor();
  await admin(page).getByRole("link", { name: "New key" }).click();
  await form.getByLabel("User", { exact: true }).fill("bob");
  await form.getByRole("button", { name: "Save" }).click();
  await shown.getByRole("button", { name: "Close" }).click();
  await admin(page).getByRole("button", { name: "Revoke: bob" }).click();
  await page.locator("#confirm-dialog").getByRole("button", { name: "Revoke" }).click();
  await admin(page).getByRole("row", { name: /bob.*Revoked/ }).waitFor();
  const { keys } = await get(url, "/api/admin/keys");
  assert.deepEqual(keys.map(({ user, state }) => [user, state]).sort(), [["ann", "valid"], ["bob", "revoked"]]);
});

test("an article is added, found and deleted", async (t) => {
  const { page, url, model } = await open(t, { settings: { ARTICLES: "yes" } });
  await openAdministration(page, "Articles");
  await admin(page).getByText("Nothing here yet.").waitFor();
  await admin(page).getByRole("link", { name: "New article" }).click();
  const form = page.locator("#article-form");
  await form.getByLabel("Content").fill("# Refunds\nRefunds take seven days.");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByRole("alert").getByText(/title/).waitFor();
  await form.getByLabel("Title", { exact: true }).fill("Refunds");
  await form.getByLabel(/^URL/).fill("https://shop.example/refunds");
  await assertAccessible(page, "#admin");
  await form.getByRole("button", { name: "Save" }).click();
  const row = admin(page).getByRole("row", { name: /^Refunds 1 / });
  await row.waitFor();
  assert.equal(await row.getByRole("link", { name: "Refunds" }).getAttribute("href"), "https://shop.example/refunds");

  await admin(page).getByRole("link", { name: "New article" }).click();
  await form.getByLabel("Title", { exact: true }).fill("Ann’s notes");
  await form.getByLabel("Format").selectOption("Text");
  await form.getByLabel("Content").fill("Only for Ann.");
  await form.getByLabel(/^Only this user/).fill("ann");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "detached" });
  await row.waitFor();
  assert.equal(await admin(page).getByRole("row").count(), 2, "the articles of all, and the head");
  await admin(page).getByLabel(/^User/).fill("ann");
  await admin(page).getByRole("button", { name: "Show" }).click();
  await admin(page).getByRole("button", { name: "Delete: Ann’s notes" }).click();
  await page.locator("#confirm-dialog").getByRole("button", { name: "Delete" }).click();
  await admin(page).getByText("Nothing here yet.").waitFor();
  assert.deepEqual((await get(url, "/api/admin/articles?owner=ann")).articles, []);
  assert.deepEqual((await get(url, "/api/admin/articles")).articles.map(({ title }) => title), ["Refunds"]);

  await admin(page).getByRole("link", { name: "Close" }).click();
  await sendMessage(page, "How long do refunds take?");
  const first = await model.next();
  first.sendText('<tool_call>{"tool":"search_articles","query":"refunds"}</tool_call>');
  first.end();
  const reply = await model.next();
  reply.sendText("Seven days [1].");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await prose(page).getByRole("link", { name: "Source 1" }).hover();
  await page.locator(".citation-card").getByText("Refunds take seven days.").waitFor();
});

test("tool calls, models and the usage of all are shown", async (t) => {
  const fixture = await open(t);
  const { page, model } = fixture;
  await page.getByRole("textbox", { name: "Message" }).fill("17%?");
  await page.keyboard.press("Enter");
  const call = await model.next();
  call.sendText('<tool_call>{"tool": "calculator", "expression": "2340*0.17"}</tool_call>');
  call.end();
  const reply = await model.next();
  reply.sendText("397.8");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await openAdministration(page, "Tool calls");
  await admin(page).getByRole("row", { name: /local.*calculator.*2340\*0\.17.*Done/ }).waitFor();
  await admin(page).getByLabel(/^ID of one of your answers/).fill("none");
  await admin(page).getByRole("button", { name: "Show" }).click();
  await admin(page).getByText("Nothing here yet.").waitFor();

  await openPanel(page, "Models");
  await admin(page).getByRole("row", { name: /test-model.*Ready/ }).waitFor();
  await admin(page).getByRole("button", { name: "Test this server’s models" }).click();
  (await model.next()).fail(401);
  await admin(page).getByText("upstream_auth").waitFor();

  await openPanel(page, "Usage");
  await admin(page).getByRole("row", { name: /^Answers/ }).waitFor();
  await admin(page).getByRole("row", { name: /^name:local 2 / }).waitFor();
  const numbers = await admin(page).locator(".admin-table tr > :nth-child(2)").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell)).map(({ textAlign, fontVariantNumeric }) => `${textAlign} ${fontVariantNumeric}`));
  assert.deepEqual(numbers, ["end tabular-nums", "end tabular-nums"], "the heading and the number");
  await admin(page).getByRole("combobox", { name: "Last 30 days by" }).selectOption("model");
  await admin(page).getByRole("columnheader", { name: "Model" }).waitFor();
  const download = page.waitForEvent("download");
  await admin(page).getByRole("button", { name: "Download CSV" }).click();
  assert.equal((await download).suggestedFilename(), "usage.csv");
});

test("feedback is listed with its reason, page by page", async (t) => {
  const fixture = await open(t);
  const { page, url } = fixture;
  const ids = await converse(fixture, [["Tea?", "Steep it."], ["Heat?", "Pump it."]]);
  for (const [at, feedback] of [[0, { rating: "up" }], [1, { rating: "down", reason: "No <b>source</b>." }]]) {
    const { messages } = await get(url, `/api/conversations/${ids[at]}`);
    const address = `${url}/api/conversations/${ids[at]}/messages/${messages[1].id}/feedback`;
    const response = await fetch(address, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(feedback) });
    assert.equal(response.status, 204);
  }
  await openAdministration(page, "Feedback");
  await admin(page).getByRole("row", { name: /local.*Bad.*No <b>source<\/b>\./ }).waitFor();
  await admin(page).getByRole("row", { name: /local.*Good/ }).waitFor();
  await page.route("**/api/admin/feedback?*", (route) => {
    const cursor = new URL(route.request().url()).searchParams.get("cursor");
    const row = { conversationId: "C", messageId: "M", owner: "name:ann", rating: "up", reason: cursor ? "second page" : "first page", model: "openai", createdAt: new Date().toISOString() };
    return route.fulfill({ json: { feedback: [row], nextCursor: cursor ? null : "1" } });
  });
  await openPanel(page, "Usage");
  await openPanel(page, "Feedback");
  await admin(page).getByRole("cell", { name: "first page" }).waitFor();
  await admin(page).getByRole("button", { name: "More" }).click();
  await admin(page).getByRole("cell", { name: "second page" }).waitFor();
  assert.equal(await admin(page).getByRole("button", { name: "More" }).isVisible(), false);
});

test("others see no administration", async (t) => {
  const { page, url } = await open(t);
  await page.route("**/api/me", (route) => route.fulfill({ json: { user: "ann", admin: false, auth: "none" } }));
  const answered = page.waitForResponse("**/api/me");
  await page.goto(url);
  await page.getByRole("button", { name: "Settings" }).click();
  await answered;
  await page.getByRole("row", { name: /^Answers/ }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Open administration" }).isVisible(), false);
});

for (const { name, options } of SCREENS) {
  test(`the administration is accessible and fits on a ${name}`, async (t) => {
    const { page } = await open(t, { context: options });
    const chinese = options.locale === "zh-CN";
    if (options.isMobile) await page.getByRole("button", { name: "对话列表" }).click();
    await page.getByRole("button", { name: chinese ? "设置" : "Settings" }).click();
    await page.getByRole("button", { name: chinese ? "打开管理界面" : "Open administration" }).click();
    const tabs = chinese ? ["工具", "文章", "密钥", "工具调用", "反馈", "模型", "用量", "智能体"] : ["Tools", "Articles", "Keys", "Tool calls", "Feedback", "Models", "Usage", "Agents"];
    for (const tab of tabs) {
      await openPanel(page, tab);
      await page.waitForFunction(([name, text]) => {
        const [heading, ...rest] = document.querySelector("#admin-panel").children;
        return heading.textContent === name && rest.length > 0 && rest.every(({ textContent }) => textContent !== text);
      }, [tab, chinese ? "加载中…" : "Loading…"]);
      await assertAccessible(page, "#admin");
      await assertFits(admin(page));
    }
    await admin(page).getByText(chinese ? "默认" : "Default", { exact: true }).waitFor();
    await admin(page).getByRole("link", { name: chinese ? "新建智能体" : "New agent" }).click();
    const form = page.locator("#agent-form");
    await form.getByText(chinese ? "全部内置工具" : "All built-in tools").click();
    await assertAccessible(page, "#admin");
    await assertFits(admin(page));
  });
}
