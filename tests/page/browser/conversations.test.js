// The list of conversations (open, rename, delete, pagination, failures) and the pickers of models and agents.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

const list = (page) => page.getByRole("navigation", { name: "Conversations" });
const titles = (page) => list(page).locator("a").allTextContents();

/** Opens the menu of a conversation and chooses an action. */
async function choose(page, title, action) {
  await list(page).getByRole("link", { name: title }).hover();
  await page.getByRole("button", { name: `Actions for ${title}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

/** Opens the control of model and agent. */
const openChoice = (page) => page.getByRole("button", { name: /^Model and agent/ }).click();

/** The time zone of this machine, which the browser sends. */
const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

test("the list shows conversations newest first", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  await exchange(fixture, "Second", "Two.");
  assert.deepEqual(await titles(page), ["Second", "First"]);

  await list(page).getByRole("link", { name: "First" }).click();
  await waitForText(prose(page), "One.");
  assert.equal(await page.title(), "First – Lambda Chat");
  assert.deepEqual(await list(page).locator("[aria-current=page]").allTextContents(), ["First"]);
  await page.goBack();
  await waitForText(prose(page), "Two.");
});

test("renaming validates the title", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "A long question", "Yes.");
  await choose(page, "A long question", "Rename");
  const title = page.getByRole("dialog").getByRole("textbox", { name: "Title" });
  assert.equal(await title.inputValue(), "A long question");
  await title.fill("x".repeat(201));
  await title.press("Enter");
  await page.getByRole("alert").getByText("A title must have 1 to 200 characters.").waitFor();
  assert.equal((await title.inputValue()).length, 201);
  await title.fill("Kürzer 短");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await waitForText(page.getByRole("heading", { level: 1 }), "Kürzer 短");
  await page.reload();
  await list(page).getByRole("link", { name: "Kürzer 短" }).waitFor();
});

test("a failed rename keeps the dialog open", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  await page.route("**/api/conversations/*", (route) => route.abort());
  await choose(page, "Question", "Rename");
  const title = page.getByRole("dialog").getByRole("textbox", { name: "Title" });
  await title.fill("Better");
  await title.press("Enter");
  await page.getByRole("alert").getByText("The server can’t be reached.").waitFor();
  assert.equal(await title.inputValue(), "Better");
  await page.unroute("**/api/conversations/*");
  await title.press("Enter");
  await waitForText(page.getByRole("heading", { level: 1 }), "Better");
});

test("deleting a conversation requires confirmation", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  const address = page.url();
  await choose(page, "Question", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(await titles(page), ["Question"]);
  await choose(page, "Question", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
  assert.deepEqual(await titles(page), []);
  await page.goto(address);
  await page.getByText("This conversation doesn’t exist. It may have been deleted.").waitFor();
});

test("more conversations load on scroll", async (t) => {
  const { page, url } = await setUp(t);
  const conversation = (n) => {
    const time = new Date(Date.UTC(2026, 0, 1) - n * 1000).toISOString();
    return { id: `C${n}`, title: `Talk ${n}`, model: "openai", messageCount: 2, createdAt: time, updatedAt: time };
  };
  await page.route("**/api/conversations?*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    const conversations = Array.from({ length: 30 }, (_, n) => conversation(from + n));
    return route.fulfill({ json: { conversations, nextCursor: from < 60 ? String(from + 30) : null } });
  });
  await page.goto(url);
  const talk = (n) => list(page).getByRole("link", { name: `Talk ${n}`, exact: true });
  await talk(29).waitFor();
  assert.equal(await talk(60).count(), 0, "what is far below is not loaded");
  for (const last of [29, 59, 89]) await talk(last).scrollIntoViewIfNeeded();
  assert.equal(await list(page).getByRole("button", { name: "More" }).count(), 0);
});

test("failed loads show an error and retry", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  await page.route("**/api/conversations**", (route) => route.abort());
  // Otherwise the page itself would repeat the loads.
  await page.route("**/healthz", (route) => route.abort());
  await page.reload();
  await list(page).getByRole("alert").getByText("The server can’t be reached.").waitFor();
  await page.locator("#messages").getByRole("alert").getByText("The server can’t be reached.").waitFor();
  await page.unroute("**/api/conversations**");
  await page.locator("#messages").getByRole("button", { name: "Try again" }).waitFor();
  await list(page).getByRole("button", { name: "Try again" }).click();
  // One request that succeeds repeats all that have failed.
  await list(page).getByRole("link", { name: "Question" }).waitFor();
  await waitForText(prose(page), "Yes.");
  assert.equal(await page.getByText("The server can’t be reached.").count(), 0);
});

test("the model choice is kept", async (t) => {
  const { page, url } = await setUp(t);
  const models = ["one", "two"].map((name, n) => ({
    name,
    provider: "p",
    model: `${name}-large`,
    default: n === 0,
    tools: "prompt",
    toolsFrom: "settings",
    demo: n === 1,
  }));
  await page.route("**/api/models", (route) => route.fulfill({ json: { models } }));
  const sent = [];
  await page.route("**/api/chat", (route) => {
    sent.push(route.request().postDataJSON());
    return route.abort();
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Model and agent: one" }).waitFor();
  assert.equal(await page.getByText("You’re trying the demo.").isVisible(), false);
  await openChoice(page);
  await page.getByRole("listbox", { name: "Model" }).getByRole("option", { name: "two" }).click();
  await page.getByText("You’re trying the demo.").waitFor();
  await page.getByRole("button", { name: "Use a real model" }).click();
  await page.getByRole("dialog", { name: "Use a real model" }).getByText("OPENAI_API_KEY").waitFor();
  await page.keyboard.press("Escape");
  await page.reload();
  await page.getByText("You’re trying the demo.").waitFor();
  await sendMessage(page, "Hello");
  await page.locator("#toast").getByText("The server can’t be reached.").waitFor();
  assert.deepEqual(sent, [{ message: "Hello", modelType: "two", timeZone }]);
});

test("f005_ a failing model is marked and selectable", async (t) => {
  const { page, url } = await setUp(t);
  const row = { provider: "test", default: false, tools: "prompt", toolsFrom: "table", demo: false };
  const models = [
    { ...row, name: "one", model: "first", failing: true },
    { ...row, name: "two", model: "two", default: true },
  ];
  await page.route("**/api/models", (route) => route.fulfill({ json: { models } }));
  await page.goto(url);
  await openChoice(page);
  const options = page.getByRole("listbox", { name: "Model" }).getByRole("option");
  assert.deepEqual(await options.allTextContents(), ["onefirst · failing at the moment", "two"]);
  await options.first().click();
  await page.getByRole("button", { name: "Model and agent: one" }).waitFor();
});

test("the agent choice is kept", async (t) => {
  const { page, url } = await setUp(t);
  const agents = [
    { id: "default", name: "Default", description: "", default: true },
    { id: "01WEATHER", name: "Weather", description: "Knows the weather.", default: false },
  ];
  await page.route("**/api/agents", (route) => route.fulfill({ json: { agents } }));
  const sent = [];
  await page.route("**/api/chat", (route) => {
    sent.push(route.request().postDataJSON());
    return route.abort();
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Model and agent: Default" }).waitFor();
  await sendMessage(page, "Hello");
  await page.locator("#toast").getByText("The server can’t be reached.").waitFor();
  await openChoice(page);
  const agent = page.getByRole("listbox", { name: "Agent" }).getByRole("option", { name: "Weather" });
  await agent.getByText("Knows the weather.").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Model and agent: Weather" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Model and agent: Weather" }).waitFor();
  await sendMessage(page, "Hello again");
  await page.locator("#toast").getByText("The server can’t be reached.").waitFor();
  assert.deepEqual(sent, [
    { message: "Hello", timeZone },
    { message: "Hello again", agentId: "01WEATHER", timeZone },
  ]);
});

test("without a configured model the demo answers", async (t) => {
  const settings = Object.fromEntries(
    ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY", "TAVILY_BASE_URL", "TAVILY_API_KEY"].map((name) => [
      name,
      "",
    ]),
  );
  const { page, url } = await setUp(t, { settings });
  await page.goto(url);
  await page.getByText("You’re trying the demo.").waitFor();
  await page.getByRole("button", { name: "What does Lambda Chat do and cost?" }).click();
  await page.locator(".step.ok").first().waitFor();
  await lastAnswer(page).locator(".message-actions").waitFor();
});
