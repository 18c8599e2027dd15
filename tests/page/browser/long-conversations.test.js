// Long conversations: the last messages first, earlier ones when the reader comes near them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, prose, setUp, waitForText } from "../support/fixture.js";

const TURNS = 50;

const UNLIMITED = { settings: { CHAT_RATE_LIMIT: "1000/60s" } };

/** Makes a conversation of many turns through the API. */
async function longConversation({ url, model }) {
  let conversationId;
  for (let turn = 1; turn <= TURNS; turn += 1) {
    const body = { message: `Question ${turn}?`, stream: false, ...(conversationId && { conversationId }) };
    const sent = fetch(`${url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const reply = await model.next();
    reply.sendText(`Answer ${turn}.\n\nIt has two paragraphs.`);
    reply.end();
    ({ conversationId } = await (await sent).json());
  }
  return conversationId;
}

const firstBubble = (page) => page.locator(".bubble").first();

test("a long conversation opens at its end and loads upwards without a jump", async (t) => {
  const fixture = await setUp(t, UNLIMITED);
  const { page, url } = fixture;
  const id = await longConversation(fixture);
  const requests = [];
  page.on("request", (request) => {
    if (request.url().includes(`/api/conversations/${id}?`)) requests.push(request.url());
  });
  await page.goto(`${url}/#/c/${id}`);
  await prose(page).getByText(`Answer ${TURNS}.`).waitFor();
  assert.ok(await lastAnswer(page).evaluate((answer) => answer.getBoundingClientRect().top < innerHeight), "the end is shown");
  const shown = await page.locator(".turn").count();
  assert.ok(shown < 2 * TURNS && requests.length === 1, `${shown} messages, ${requests.length} requests`);

  const anchor = firstBubble(page);
  const text = await anchor.textContent();
  const marked = page.locator(".bubble").filter({ hasText: text });
  await page.locator("#scroller").evaluate((node) => node.scrollTo(0, 400));
  const before = await marked.evaluate((node) => node.getBoundingClientRect().top);
  await page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, shown);
  const after = await marked.evaluate((node) => node.getBoundingClientRect().top);
  assert.ok(Math.abs(after - before) < 3, `${before} → ${after}`);

  while ((await firstBubble(page).textContent()) !== "Question 1?") {
    const count = await page.locator(".turn").count();
    await page.locator("#scroller").evaluate((node) => node.scrollTo(0, 0));
    await page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, count);
  }
  const expected = Array.from({ length: TURNS }, (_, n) => `Question ${n + 1}?`);
  assert.deepEqual(await page.locator(".bubble").allTextContents(), expected);
  assert.equal(await page.getByRole("button", { name: "Earlier messages" }).count(), 0);
  const visibility = await page.locator(".turn").evaluateAll((turns) => turns.map((turn) => getComputedStyle(turn.closest(".part") ?? turn).contentVisibility));
  assert.deepEqual([visibility[0], visibility.at(-1)], ["auto", "visible"], "what is far away is not laid out");
  assert.ok((await page.locator(".part").count()) > 0, "earlier messages are laid out in parts");
});

test("an answer that is regenerated in an earlier part has its question at the top", async (t) => {
  const fixture = await setUp(t, UNLIMITED);
  const { page, url, model } = fixture;
  await page.goto(`${url}/#/c/${await longConversation(fixture)}`);
  await prose(page).getByText(`Answer ${TURNS}.`).waitFor();
  while ((await page.locator(".part").count()) < 2) await page.locator("#scroller").evaluate((node) => node.scrollTo(0, 0));
  const part = page.locator(".part").last();
  const question = await part.locator(".bubble").last().textContent();
  await part.locator(".answer").last().getByRole("button", { name: "Regenerate" }).click();
  const reply = await model.next();
  reply.sendText("Another answer.");
  await prose(page).getByText("Another answer.").waitFor();
  const top = (locator) => locator.evaluate((node) => node.getBoundingClientRect().top);
  const distance = (await top(page.locator(".bubble").filter({ hasText: question }))) - (await top(page.locator("#scroller")));
  assert.ok(distance >= 0 && distance < 60, `${distance} below the header`);
  reply.end();
});

test("earlier messages stay when another tab adds one", async (t) => {
  const fixture = await setUp(t, UNLIMITED);
  const { page, url, context, model } = fixture;
  const id = await longConversation(fixture);
  await page.goto(`${url}/#/c/${id}`);
  await prose(page).getByText(`Answer ${TURNS}.`).waitFor();
  const shown = await page.locator(".turn").count();
  await page.locator("#scroller").evaluate((node) => node.scrollTo(0, 0));
  await page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, shown);
  const more = await page.locator(".turn").count();
  const other = await context.newPage();
  await other.goto(page.url());
  await prose(other).getByText(`Answer ${TURNS}.`).waitFor();
  await exchange({ page: other, model }, "One more?", "Yes.");
  await waitForText(prose(page), "Yes.");
  assert.ok((await page.locator(".turn").count()) >= more + 2);
});

test("a failed load of earlier messages can be repeated", async (t) => {
  const fixture = await setUp(t, UNLIMITED);
  const { page, url } = fixture;
  const id = await longConversation(fixture);
  await page.route("**/api/conversations/*cursor=*", (route) => route.abort(), { times: 1 });
  await page.goto(`${url}/#/c/${id}`);
  await prose(page).getByText(`Answer ${TURNS}.`).waitFor();
  const shown = await page.locator(".turn").count();
  await page.locator("#scroller").evaluate((node) => node.scrollTo(0, 0));
  await page.locator("#toast").getByRole("button", { name: "Try again" }).click();
  await page.waitForFunction((count) => document.querySelectorAll(".turn").length > count, shown);
});
