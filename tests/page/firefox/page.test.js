// The page in Firefox: a visit, a turn with a search, its end, and what is loaded on demand.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { byRole, exchange, sendMessage, setUp, waitForText } from "../support/firefox.js";

const PHONE = { width: 390, height: 844, hasTouch: true };

/** The visible parts of the newest answer, in order. */
const partsOf = (page) =>
  page.$$eval(".answer", (answers) =>
    [...answers.at(-1).querySelectorAll(".thinking, .prose, .steps, .sources, .answer-footer")]
      .filter((part) => part.checkVisibility() && part.textContent.trim() !== "")
      .map((part) => part.className.split(" ")[0]),
  );

/** A turn with a search between two texts. */
async function searchedAnswer({ page, model, search }, message = "How do heat pumps work?") {
  await sendMessage(page, message);
  const first = await model.next();
  first.sendReasoning("They want to know.");
  first.sendText("Let me look that up.\n");
  await waitForText(page, ".answer .prose", "look that up.");
  first.callSearch("heat pumps");
  const request = await search.next();
  await page.waitForSelector(".answer .step.running");
  request.respond(10);
  const second = await model.next();
  second.sendText("Heat pumps **mo");
  await waitForText(page, ".answer .prose strong", "mo");
  second.sendText("ve** heat [1].");
  second.end();
  await page.waitForSelector(".answer .message-actions");
}

test("a turn streams text, search and text in order", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture);
  const order = ["thinking", "prose", "steps", "prose", "answer-footer"];
  assert.deepEqual(await partsOf(page), order);
  await waitForText(page, ".answer .prose strong", /^move$/);
  await page.reload();
  await page.waitForSelector(".answer .message-actions");
  assert.deepEqual(await partsOf(page), order, "after a reload");
});

test("a citation shows its card on hover and by keyboard", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture);
  await (await byRole(page, "link", "Source 1")).hover();
  await waitForText(page, ".citation-card", /Result 1\s+site1\.example\s+What page 1 says\.\s+Open page/);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".citation-card", { hidden: true });
  await page.mouse.move(5, 5);
  await page.focus(".step");
  await page.keyboard.press("Tab");
  await waitForText(page, ".citation-card", "Result 1");
});

test("a reload in the middle of an answer continues it", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once upon");
  await waitForText(page, ".answer .prose", "Once upon");
  await page.reload();
  await waitForText(page, ".answer .prose", "Once upon");
  reply.sendText(" a time");
  await waitForText(page, ".answer .prose", "Once upon a time");
  reply.end();
  await page.waitForSelector(".answer .message-actions");
});

test("scrolling up stops following until resumed", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Long?");
  const reply = await model.next();
  reply.sendText("line\n\n".repeat(80));
  await page.waitForSelector(".prose p:nth-child(80)");
  await (await page.$("#scroller")).hover();
  await page.mouse.wheel({ deltaY: -800 });
  const latest = await byRole(page, "button", "Go to the latest message");
  const top = () => page.$eval("#scroller", (node) => node.scrollTop);
  const before = await top();
  reply.sendText("more\n\n".repeat(20));
  await page.waitForSelector(".prose p:nth-child(100)");
  assert.equal(await top(), before);
  await latest.click();
  await page.waitForFunction(() => {
    const { scrollHeight, clientHeight, scrollTop } = document.getElementById("scroller");
    return scrollHeight - clientHeight - scrollTop < 2;
  });
  reply.end();
  await page.waitForSelector(".answer .message-actions");
});

test("axe finds nothing in an answer, the settings and the list", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture);
  await page.click(".step");
  await assertAccessible(page);
  await (await byRole(page, "button", "Settings")).click();
  await page.waitForSelector("#settings-dialog .figures");
  await assertAccessible(page);
});

test("an answer is stopped with Escape", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "A story.");
  const reply = await model.next();
  reply.sendText("Once upon a time");
  await waitForText(page, ".answer .prose", "Once upon a time");
  await page.keyboard.press("Escape");
  await waitForText(page, ".answer .note", "This answer was stopped.");
  await reply.closed;
});

test("formulas, code, a table and a task list are shown", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "All?", "$$\n\\frac{a}{b}\n$$\n\n```js\nlet a = 1;\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n\n**时间：**2026年");
  await page.waitForSelector(".prose math mfrac");
  await page.waitForSelector(".prose .hljs-keyword");
  await page.waitForSelector(".prose td.align-right");
  await page.waitForSelector(".prose .task-box.done");
  await waitForText(page, ".prose strong", "时间：");
  assert.ok((await (await page.$(".prose math")).boundingBox()).height > 20, "the fraction has two lines");
});

test("on a Chinese device in the dark the page is Chinese and dark", async (t) => {
  const preferences = { "intl.accept_languages": "zh-CN", "layout.css.prefers-color-scheme.content-override": 0 };
  const { page, url, model } = await setUp(t, { preferences });
  await page.goto(url);
  await waitForText(page, "#welcome h2", "想了解点什么？");
  const colours = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
  assert.ok((await colours()).every((part) => part < 60));
  await sendMessage(page, "你好");
  await waitForText(page, ".answer .status", "等待");
  const reply = await model.next();
  reply.sendText("你好！");
  reply.end();
  await page.waitForSelector(".answer .message-actions");
  await (await byRole(page, "button", "切换到浅色")).click();
  assert.ok((await colours()).every((part) => part > 240));
});

test("a phone does not scroll sideways, its list is a drawer", async (t) => {
  const fixture = await setUp(t, { viewport: PHONE });
  const { page, url } = fixture;
  await page.goto(url);
  await page.waitForSelector("#message");
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.equal(await overflow(), 0);
  await exchange(fixture, "Wide?", `${"wide".repeat(60)}\n\n| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n| long cell | long cell | long cell | long cell | long cell | long cell |\n\n\`\`\`\n${"code ".repeat(60)}\n\`\`\``);
  assert.equal(await overflow(), 0);
  const outside = await page.$$eval("header button, footer button, .bubble, .prose", (nodes) =>
    nodes.filter((node) => node.checkVisibility()).map((node) => node.getBoundingClientRect()).filter(({ left, right }) => left < 0 || right > innerWidth).length,
  );
  assert.equal(outside, 0);
  await (await byRole(page, "button", "List of conversations")).click();
  await page.waitForSelector("#page[data-list=open] #sidebar", { visible: true });
  await page.keyboard.press("Escape");
  await page.waitForSelector("#sidebar", { hidden: true });
});

test("the settings dialog changes the language and returns the focus", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await (await byRole(page, "button", "Settings")).click();
  await page.waitForSelector("#settings-dialog[open]");
  assert.ok(await page.evaluate(() => document.activeElement.closest("dialog") !== null));
  await page.keyboard.press("Escape");
  await page.waitForSelector("#settings-dialog", { hidden: true });
  assert.equal(await page.evaluate(() => document.activeElement.id), "open-settings");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#settings-dialog[open]");
  await (await byRole(page, "combobox", "Language")).select("zh-CN");
  await byRole(page, "button", "设置");
  assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
});

test("a conversation is renamed and deleted by keyboard", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  await (await byRole(page, "button", "Actions for Question")).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open] input");
  await page.keyboard.type("Renamed");
  await page.keyboard.press("Enter");
  await byRole(page, "link", "Renamed");
  await (await byRole(page, "button", "Actions for Renamed")).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog[open]");
  await (await page.waitForSelector("dialog[open] .button.danger")).focus();
  await page.keyboard.press("Enter");
  await waitForText(page, "#sidebar", "Your conversations will appear here.");
});

test("a key is requested, kept and forgotten", async (t) => {
  const { page, url } = await setUp(t);
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (!request.url().includes("/api/") || request.headers()["x-api-key"] === "right-key") return request.continue();
    const error = { code: "unauthorized", message: "A valid access key is required.", retryable: false, requestId: "r" };
    return request.respond({ status: 401, contentType: "application/json", body: JSON.stringify({ error }) });
  });
  await page.goto(url);
  await page.waitForSelector("#key-dialog[open] input[type=password]");
  await page.type("#key-dialog input[type=password]", "wrong-key");
  await page.keyboard.press("Enter");
  await waitForText(page, "#key-dialog", "That key wasn’t accepted. Check it and try again.");
  await page.$eval("#key-dialog input[type=password]", (input) => input.select());
  await page.type("#key-dialog input[type=password]", "right-key");
  await page.keyboard.press("Enter");
  await waitForText(page, "#sidebar", "Your conversations will appear here.");
  await page.reload();
  await waitForText(page, "#sidebar", "Your conversations will appear here.");
  await (await byRole(page, "button", "Settings")).click();
  await (await byRole(page, "button", "Forget key")).click();
  await page.waitForSelector("#key-dialog[open]");
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
});

test("a question is edited, its versions are switched, and a cut answer goes on", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "First?", "One.");
  await (await byRole(page, "button", "Edit message")).click();
  const box = await byRole(page, "textbox", "Edit message");
  await page.keyboard.type(" Please?");
  assert.equal(await box.evaluate((node) => node.value), "First? Please?");
  await page.keyboard.press("Enter");
  const reply = await model.next();
  reply.sendText("Once upon");
  reply.end("length");
  await (await byRole(page, "button", "Continue")).click();
  const rest = await model.next();
  rest.sendText(" a time.");
  rest.end();
  await waitForText(page, ".answer .prose", /^Once upon a time\.\s*$/);
  await (await byRole(page, "button", "Previous version")).click();
  await waitForText(page, ".answer .prose", /^One\.\s*$/);
  await page.reload();
  await waitForText(page, ".answer .prose", /^One\.\s*$/);
  await (await byRole(page, "button", "Next version")).click();
  await waitForText(page, ".answer .prose", /^Once upon a time\.\s*$/);
  await assertAccessible(page);
});

test("the list is searched, and the palette finds and runs", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Tea?", "Steep it at 70 degrees.");
  await page.goto(`${url}/#/`);
  await page.type("#search", "degrees");
  await waitForText(page, ".matches mark", "degrees");
  await assertAccessible(page);
  await (await page.$(".matches a")).click();
  await waitForText(page, ".answer .prose", "Steep it at 70 degrees.");
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.waitForSelector("#palette[open] [role=option]");
  await page.keyboard.type("theme: dark");
  await assertAccessible(page);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
});

test("a conversation is shared, and its copy is read", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await searchedAnswer(fixture);
  await page.waitForFunction(() => location.hash.startsWith("#/c/"));
  const id = (await page.evaluate(() => location.hash)).split("/")[2];
  await (await byRole(page, "button", "Conversation actions")).click();
  await (await byRole(page, "menuitem", "Share…")).click();
  await (await byRole(page, "button", "Create link")).click();
  await page.waitForSelector(".share-link a");
  const response = await fetch(`${url}/api/conversations/${id}/shares`);
  const [share] = (await response.json()).shares;
  await page.goto(`${url}/share/${share.id}`);
  await waitForText(page, "#shared .prose strong", "move");
  await page.waitForSelector("#shared .sources li");
  await assertAccessible(page);
});
