// The list of conversations: search, pins, the archive, and many conversations.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { exchange, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";
import { choose, converse, list, titles } from "../support/library.js";

const search = (page) => page.getByRole("searchbox", { name: "Search conversations" });

/** Answers the list with conversations by number, 30 per page. */
async function offer(page, total) {
  await page.route("**/api/conversations?*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    const conversations = Array.from({ length: Math.min(30, total - from) }, (_, n) => {
      const time = new Date(Date.UTC(2026, 0, 1) - (from + n) * 1000).toISOString();
      return { id: `C${from + n}`, title: `Talk ${from + n}`, createdAt: time, updatedAt: time };
    });
    const pinned = new URL(route.request().url()).searchParams.has("pinned");
    return route.fulfill({ json: pinned ? { conversations: [], nextCursor: null } : { conversations, nextCursor: from + 30 < total ? String(from + 30) : null } });
  });
}

test("a title has the whole width of its row until the pointer is there", async (t) => {
  const { page, url } = await setUp(t);
  await offer(page, 2);
  await page.goto(url);
  const title = list(page).getByRole("link", { name: "Talk 1" });
  const missing = () => title.evaluate((link) => Math.round(link.parentElement.clientWidth - link.clientWidth));
  assert.ok((await missing()) <= 2, String(await missing()));
  await title.hover();
  assert.ok((await missing()) >= 32, "the button is next to it");
});

test("a search opens a conversation at the found message", async (t) => {
  const fixture = await setUp(t, { context: { viewport: { width: 1200, height: 500 } } });
  const { page, url, model } = fixture;
  const [, id] = await converse(fixture, [["Tea?", "Green tea is steeped at 70 degrees."], ["Heat?", "A heat pump moves heat."]]);
  for (const message of ["Noise?", "Price?"]) {
    const sent = fetch(`${url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ message, conversationId: id }) });
    const reply = await model.next();
    reply.sendText("A line.\n\n".repeat(40));
    reply.end();
    await (await sent).text();
  }
  await page.goto(url);
  await list(page).getByRole("link", { name: "Tea?", exact: true }).waitFor();
  await search(page).fill("heat pump");
  await list(page).getByRole("heading", { name: "Results" }).waitFor();
  assert.deepEqual(await titles(page), ["Heat?"]);
  const found = list(page).locator(".matches a").first();
  assert.match(await found.locator("mark").first().textContent(), /heat|pump/i);
  await assertAccessible(page);
  const requested = page.waitForRequest(/\/api\/conversations\/\w+\?.*branch=\w+/);
  await found.click();
  await requested;
  assert.match(page.url(), new RegExp(`#/c/${id}/\\w+$`));
  const answer = page.locator(".answer").first();
  await answer.getByText("A heat pump moves heat.").waitFor();
  await page.waitForFunction(() => document.activeElement.classList.contains("turn"));
  const { top, bottom } = await answer.evaluate((node) => ({ top: node.getBoundingClientRect().top, bottom: innerHeight }));
  assert.ok(top >= 0 && top < bottom, "the found message is in view");

  await search(page).press("Escape");
  assert.equal(await search(page).inputValue(), "");
  await list(page).getByRole("link", { name: "Tea?", exact: true }).waitFor();
  await search(page).fill("nowhere");
  await list(page).getByText("Nothing found.").waitFor();
});

test("a Chinese search marks what it finds", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["茶怎么泡？", "绿茶用七十度的水冲泡。"], ["别的", "无关。"]]);
  await page.goto(url);
  await search(page).fill("绿茶");
  await waitForText(list(page).locator(".matches mark").first(), "绿茶");
  assert.deepEqual(await titles(page), ["茶怎么泡？"]);
});

test("a search continues after an empty page, without markup", async (t) => {
  const { page, url } = await setUp(t);
  const cursors = [];
  await page.route("**/api/conversations?*", (route) => {
    const parameters = new URL(route.request().url()).searchParams;
    if (!parameters.has("q")) return route.fulfill({ json: { conversations: [], nextCursor: null } });
    const cursor = parameters.get("cursor");
    cursors.push(cursor);
    const time = new Date().toISOString();
    const matches = [{ messageId: "M1", snippet: "<img src=x onerror=alert(1)> [[found]] and [[more]] ]] [[open" }];
    const conversations = cursor === "2" ? [{ id: "C1", title: "One", createdAt: time, updatedAt: time, matches }] : [];
    return route.fulfill({ json: { conversations, nextCursor: { null: "1", 1: "2" }[cursor] ?? null } });
  });
  await page.goto(url);
  await search(page).fill("found");
  const found = list(page).locator(".matches a");
  await waitForText(found, "<img src=x onerror=alert(1)> found and more ]] [[open");
  assert.deepEqual(await found.locator("mark").allTextContents(), ["found", "more"]);
  assert.deepEqual(cursors, [null, "1", "2"]);
  assert.equal(await page.locator("#announcer").textContent(), "1 conversation found.");
});

test("pinned conversations are on top, after a reload too", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["First", "1."], ["Second", "2."], ["Third", "3."]]);
  await page.goto(url);
  await choose(page, "First", "Pin");
  await list(page).getByRole("heading", { name: "Pinned" }).waitFor();
  assert.deepEqual(await titles(page), ["First", "Third", "Second"]);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Actions for First");
  await page.reload();
  await list(page).getByRole("heading", { name: "Pinned" }).waitFor();
  assert.deepEqual(await titles(page), ["First", "Third", "Second"]);
  await choose(page, "First", "Unpin");
  await list(page).getByRole("heading", { name: "Pinned" }).waitFor({ state: "detached" });
});

test("a pinned conversation is on top of a long list", async (t) => {
  const fixture = await setUp(t, { settings: { CHAT_RATE_LIMIT: "100/60s" } });
  const { page, url } = fixture;
  const exchanges = Array.from({ length: 32 }, (_, n) => [`Talk ${n}`, "Yes."]);
  const [id] = await converse(fixture, exchanges);
  await fetch(`${url}/api/conversations/${id}`, { method: "PATCH", headers: { "content-type": "application/json" }, body: '{"pinned":true}' });
  await page.goto(url);
  await list(page).getByRole("heading", { name: "Pinned" }).waitFor();
  assert.equal((await titles(page))[0], "Talk 0");
});

test("archiving can be undone by keyboard, and its notice leaves by itself", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["Keep", "1."], ["Put away", "2."]]);
  await page.clock.install();
  await page.goto(url);
  await choose(page, "Put away", "Archive");
  const notice = page.locator("#toast", { hasText: "Archived." });
  const undo = notice.getByRole("button", { name: "Undo" });
  await undo.focus();
  await page.clock.fastForward(60_000);
  await undo.press("Enter");
  await list(page).getByRole("link", { name: "Put away" }).waitFor();
  const undone = page.locator("#toast", { hasText: "Unarchived." });
  await undone.waitFor();
  await page.mouse.move(0, 0);
  await page.clock.fastForward(20_000);
  await undone.waitFor({ state: "hidden" });
});

test("an archived conversation is in the archive only", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["Keep", "1."], ["Put away", "2."]]);
  await page.goto(url);
  await choose(page, "Put away", "Archive");
  await list(page).getByRole("link", { name: "Put away" }).waitFor({ state: "detached" });
  assert.equal(await page.locator("#announcer").textContent(), "Archived.");
  await page.reload();
  await list(page).getByRole("link", { name: "Keep" }).waitFor();
  assert.deepEqual(await titles(page), ["Keep"]);
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await list(page).getByRole("link", { name: "Put away" }).waitFor();
  assert.deepEqual(await titles(page), ["Put away"]);
  await assertAccessible(page);
  await list(page).getByRole("link", { name: "Put away" }).click();
  await waitForText(page.getByRole("heading", { level: 1 }), "Put away");
  await choose(page, "Put away", "Unarchive");
  await list(page).getByText("Your archive is empty.").waitFor();
  await list(page).getByRole("button", { name: "All conversations" }).click();
  await list(page).getByRole("link", { name: "Keep" }).waitFor();
  assert.deepEqual(await titles(page), ["Put away", "Keep"]);
});

test("a change of one of 2,000 rows touches only that row", async (t) => {
  const { page, url } = await setUp(t);
  await offer(page, 2000);
  await page.route("**/api/conversations/*", (route) => route.fulfill({ json: { conversation: { id: "C7", title: "Renamed", updatedAt: new Date(Date.UTC(2026, 0, 1) - 7000).toISOString() } } }));
  await page.goto(url);
  const rows = list(page).locator("li");
  for (let last = 29; last < 1999; last += 30) {
    await rows.nth(last).waitFor({ state: "attached" });
    await page.locator("#conversations").evaluate((node) => node.scrollTo(0, node.scrollHeight));
  }
  await rows.nth(1999).waitFor({ state: "attached" });
  assert.equal(await list(page).getByRole("button", { name: "More" }).count(), 0);
  await page.locator("#conversations").evaluate((node) => node.scrollTo(0, 0));
  await page.evaluate(() => {
    globalThis.changed = 0;
    const count = (records) => {
      for (const { addedNodes } of records) globalThis.changed += [...addedNodes].filter((node) => node.tagName === "LI").length;
    };
    new MutationObserver(count).observe(document.getElementById("conversations"), { childList: true, subtree: true });
  });
  const layout = () => list(page).locator("ul").evaluateAll((parts) => parts.map((part) => getComputedStyle(part).contentVisibility));
  assert.deepEqual(new Set(await layout()), new Set(["auto"]), "what is far away is not laid out");
  await list(page).getByRole("button", { name: "Actions for Talk 49", exact: true }).click();
  assert.equal((await layout())[0], "visible", "an open menu is not cut off");
  await page.keyboard.press("Escape");
  await choose(page, "Talk 7", "Rename");
  await page.getByRole("dialog").getByRole("textbox").fill("Renamed");
  await page.keyboard.press("Enter");
  await list(page).getByRole("link", { name: "Renamed" }).waitFor();
  assert.equal(await page.evaluate(() => globalThis.changed), 1);
  assert.equal(await rows.count(), 2000);
});

test("the list marks answers of other conversations", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await sendMessage(page, "First?");
  const reply = await model.next();
  reply.sendText("One");
  await waitForText(prose(page), "One");
  const row = list(page).locator("li").filter({ hasText: "First?" });
  assert.equal(await row.getByRole("img").count(), 0, "the open conversation has no mark");
  await page.getByRole("button", { name: "New conversation" }).first().click();
  await row.getByRole("img", { name: "An answer is being written" }).waitFor();
  await exchange(fixture, "Second?", "Two.");
  await assertAccessible(page);
  reply.end();
  await row.getByRole("img", { name: "New answer" }).waitFor();
  assert.equal(await row.getByRole("link").getAttribute("aria-description"), "New answer", "a screen reader reads it with the link");
  await row.getByRole("link").click();
  await waitForText(prose(page), "One");
  assert.equal(await list(page).getByRole("img").count(), 0);
});

test("the header has the actions of the open conversation", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  assert.equal(await page.getByRole("button", { name: "Conversation actions" }).isVisible(), false);
  await exchange(fixture, "Question", "Yes.");
  await page.getByRole("button", { name: "Conversation actions" }).click();
  const items = await page.getByRole("menuitem").allTextContents();
  assert.deepEqual(items, ["Rename", "Pin", "Share…", "Export…", "Archive", "Delete"]);
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("Renamed");
  await page.keyboard.press("Enter");
  await waitForText(page.getByRole("heading", { level: 1 }), "Renamed");
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Conversation actions");
  await prose(page).getByText("Yes.").waitFor();
});
