// Links to read-only copies: create, copy, list and revoke, and the page that everyone sees.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible, SCREENS } from "../support/axe.js";
import { setUp, waitForText } from "../support/fixture.js";
import { choose, converse } from "../support/library.js";

const dialog = (page) => page.getByRole("dialog", { name: "Share a conversation" });

/** Makes a share by the API. */
async function share({ url }, id, choice = {}) {
  const body = JSON.stringify(choice);
  const response = await fetch(`${url}/api/conversations/${id}/shares`, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(response.status, 201);
  return response.json();
}

/** The address of a share on the test's server. */
const addressOf = ({ url }, { id }) => `${url}/share/${id}`;

test("a link is created, copied, opened and revoked", async (t) => {
  const fixture = await setUp(t, { context: { permissions: ["clipboard-read", "clipboard-write"] } });
  const { page, url, context } = fixture;
  await converse(fixture, [["Tea?", "Steep it at **70** degrees."]]);
  await page.goto(url);
  await choose(page, "Tea?", "Share…");
  await dialog(page).getByText("Anyone with the link can read this copy without signing in.").waitFor();
  await dialog(page).getByText("There are no links to this conversation.").waitFor();
  await dialog(page).getByLabel("The link expires").selectOption("after 7 days");
  await dialog(page).getByRole("button", { name: "Create link" }).click();
  const copy = dialog(page).getByRole("button", { name: /^Copy/ });
  await copy.waitFor();
  await page.waitForFunction(() => document.activeElement.textContent === "Copy");
  await copy.click();
  await dialog(page).getByText("Copied").waitFor();
  await assertAccessible(page);
  const address = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(address, /\/share\/[\w-]+$/);
  const expires = await dialog(page).locator(".share-link small").textContent();
  assert.match(expires, /^Created .* · expires /);

  const visitor = await context.newPage();
  await visitor.goto(`${url}${new URL(address).pathname}`);
  await waitForText(visitor.getByRole("heading", { level: 1 }), "Tea?");
  await waitForText(visitor.locator(".answer strong"), "70");
  await visitor.close();

  await page.reload();
  await choose(page, "Tea?", "Share…");
  await dialog(page).getByRole("button", { name: /^Revoke/ }).click();
  await dialog(page).getByText("There are no links to this conversation.").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Create link");
  await page.goto("about:blank");
  await page.goto(`${url}${new URL(address).pathname}`);
  await page.getByText("This link doesn’t work. It may have expired or been revoked.").waitFor();
});

test("a link may end with an answer", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  const [conversationId] = await converse(fixture, [["Tea?", "Steep it."]]);
  const sent = fetch(`${url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ message: "A secret?", conversationId }) });
  const reply = await model.next();
  reply.sendText("Hidden.");
  reply.end();
  await (await sent).text();
  await page.goto(url);
  await choose(page, "Tea?", "Share…");
  await dialog(page).getByLabel("Share", { exact: true }).selectOption("up to the answer to “Tea?”");
  await dialog(page).getByRole("button", { name: "Create link" }).click();
  const address = await dialog(page).locator(".share-link a").getAttribute("href");
  await page.goto(`${url}${new URL(address).pathname}`);
  await waitForText(page.locator(".answer .prose"), "Steep it.");
  assert.equal(await page.getByText("Hidden.").count(), 0);
});

test("a shared copy has citations and sources, and needs no credential", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model, search, watch } = fixture;
  const sent = fetch(`${url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body: '{"message":"Tea?"}' });
  (await model.next()).callSearch("tea");
  (await search.next()).respond(2);
  const reply = await model.next();
  reply.sendText("Green [1].\n\n```js\nlet a = 1;\n```\n\n$x^2$");
  reply.end();
  const id = /"conversationId":"(\w+)"/.exec(await (await sent).text())[1];
  const shared = await share(fixture, id);
  await page.addInitScript(() => localStorage.setItem("key", "a-stored-key"));
  const headers = [];
  page.on("request", (request) => headers.push([new URL(request.url()).pathname, request.headers()]));
  await page.goto(addressOf(fixture, shared));
  await page.getByRole("link", { name: "Source 1" }).hover();
  await page.locator(".citation-card").getByText("Result 1").waitFor();
  await page.locator(".sources").getByText("Result 2").waitFor();
  await page.locator(".hljs-keyword").waitFor();
  await page.locator("math").waitFor();
  assert.deepEqual(headers.map(([path]) => path).filter((path) => path.includes("/api/")), [`/api/shares/${shared.id}`]);
  for (const [, sent] of headers) assert.ok(!("x-api-key" in sent) && !("authorization" in sent) && !("cookie" in sent));
  assert.ok(watch.requests.every((address) => !address.includes("/share/assets/")));
  assert.equal(await page.locator("textarea, .regenerate, .copy, nav").count(), 0);
  await page.getByRole("link", { name: "Open Lambda Chat" }).click();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
});

for (const { name, options } of SCREENS) {
  test(`a shared copy is accessible and fits on a ${name}`, async (t) => {
    const fixture = await setUp(t, { context: options });
    const { page } = fixture;
    const [id] = await converse(fixture, [["Tea?", "# Tea\n\nSteep it.\n\n| a | b |\n|---|---|\n| 1 | 2 |"]]);
    await page.goto(addressOf(fixture, await share(fixture, id)));
    await page.locator(".answer table").waitFor();
    await assertAccessible(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    await page.goto("about:blank");
    await page.goto(addressOf(fixture, { id: "01ABSENT" }));
    await page.locator(".load-error").waitFor();
    await assertAccessible(page);
  });
}

test("a shared answer that ends with emphasis has it", async (t) => {
  const fixture = await setUp(t);
  const { page } = fixture;
  const [id] = await converse(fixture, [["Tea?", "Steep it.\n\n*Not too `hot`.*"]]);
  await page.goto(addressOf(fixture, await share(fixture, id)));
  await waitForText(page.locator(".answer .prose em"), "Not too hot.");
  await waitForText(page.locator(".answer .prose p").last(), "Not too hot.");
});

test("a shared copy can be loaded again after a failure", async (t) => {
  const fixture = await setUp(t);
  const { page } = fixture;
  const [id] = await converse(fixture, [["Tea?", "Steep it."]]);
  await page.route("**/api/shares/*", (route) => route.abort(), { times: 1 });
  await page.goto(addressOf(fixture, await share(fixture, id)));
  await page.getByRole("button", { name: "Try again" }).click();
  await waitForText(page.locator(".answer .prose"), "Steep it.");
});
