// The administration in every state: each tab empty and with rows, each form, and a new key.

import { ended, openSettings, send, states } from "../support/states.js";
import { MODELS } from "./texts.js";

const TABS = ["agents", "tools", "articles", "keys", "calls", "feedback", "models", "usage"];
const FORMS = { agents: "agent-form", tools: "tool-form", articles: "article-form", keys: "key-form" };

/** Opens a tab and waits for its content. */
async function openTab(page, name) {
  await page.locator(`#admin-tab-${name}`).click();
  await page.locator("#admin-panel > h3 + :not(p), #admin-panel > h3 + p + *").first().waitFor();
}

async function openAdministration(page, phone) {
  await openSettings(page, phone);
  await page.locator("section[aria-labelledby=settings-administration] button").click();
  await page.locator("#admin").waitFor();
}

/** Makes rows by the API. */
async function makeRows(url) {
  const post = async (path, body, method = "POST") => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/admin/${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  };
  await post("agents", { name: "Newsroom", description: "Knows what happened today, from four sources.", systemPrompt: "You are an editor." });
  const endpoint = { urlTemplate: "https://weather.example/v1/{city}" };
  await post("tools", { name: "weather", description: "The weather of a city, now and for three days.", type: "invokable", endpoint, parameters: { city: { type: "string" } } });
  await post("articles", { title: "Refunds", markdown: "# Refunds\nRefunds take seven days.", url: "https://shop.example/refunds" });
  for (const user of ["ann", "bob"]) await post("keys", { user });
}

states("the tabs of the administration", async ({ open, phone }) => {
  const { page, url, model, check } = await open({ settings: { ARTICLES: "yes", MODELS } });
  await page.goto(url);
  await openAdministration(page, phone);
  for (const name of ["tools", "articles", "keys", "calls", "feedback"]) {
    await openTab(page, name);
    await check(`admin-${name}-empty`);
  }
  await page.locator(".admin-head a").click();
  await makeRows(url);
  await send(page, "17 % of 2340?");
  const call = await model.next();
  call.sendText('<tool_call>{"tool": "calculator", "expression": "2340*0.17"}</tool_call>');
  call.end();
  const reply = await model.next();
  reply.sendText("397.8");
  reply.end();
  await ended(page);
  await openAdministration(page, phone);
  for (const name of TABS) {
    await openTab(page, name);
    await check(`admin-${name}`);
  }
});

states("the forms of the administration", async ({ open, phone }) => {
  const { page, url, check } = await open({ settings: { ARTICLES: "yes" } });
  await makeRows(url);
  await page.goto(url);
  await openAdministration(page, phone);
  for (const [name, form] of Object.entries(FORMS)) {
    await openTab(page, name);
    await page.locator("#admin-panel > .row a, #admin-panel > a.button").first().click();
    await page.locator(`#${form}`).waitFor();
    await check(`admin-${form}`);
    if (name === "keys") {
      await page.locator(`#${form} input`).first().fill("cy");
      await page.locator(`#${form} [type=submit]`).click();
      await page.locator("#new-key").waitFor();
      await check("admin-new-key");
      await page.keyboard.press("Escape");
    }
  }
  await openTab(page, "tools");
  await page.locator("#admin-panel li a").first().click();
  await page.locator("#trial-form [type=submit]").click();
  await page.locator(".trial pre").first().waitFor();
  await check("admin-tool-trial");
});
