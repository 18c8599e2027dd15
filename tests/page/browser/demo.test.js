// The demo's first minute: a prepared answer with pages of the server, documents, and an answer that outlives its connection.

import assert from "node:assert/strict";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { lastAnswer, sendMessage, setUp } from "../support/fixture.js";
import { converse } from "../support/library.js";

const DEMO = { OPENAI_BASE_URL: "", OPENAI_MODEL: "", OPENAI_API_KEY: "", TAVILY_BASE_URL: "", TAVILY_API_KEY: "" };

/** The prepared answer in each language: its mark and its figures. */
const LANGUAGES = [
  { locale: "en-GB", mark: /This is a scripted demo/g, figures: /no cost · first text after .*s · demo$/ },
  { locale: "zh-CN", mark: /这是脚本演示/g, figures: /免费 · .*秒后出现首字 · demo$/ },
];

/** Opens the demo and sends one of its examples. */
async function sendExample(t, example, locale = "en-GB") {
  const fixture = await setUp(t, { settings: DEMO, context: { locale } });
  const { page, url } = fixture;
  await page.goto(url);
  await page.locator("#demo").waitFor();
  await page.locator(".example").nth(example).click();
  return fixture;
}

const ended = (page) => lastAnswer(page).locator(".message-actions").waitFor();

for (const { locale, mark, figures } of LANGUAGES) {
  test(`the first example is a cited answer with all parts (${locale})`, async (t) => {
    const { page, context, url } = await sendExample(t, 0, locale);
    await ended(page);
    const answer = lastAnswer(page);
    assert.equal(await answer.locator(".rounds > .steps > .step.ok").count(), 2, "two searches in one step, and a page");
    for (const part of ["table", "math", "a[data-source]"]) assert.ok((await answer.locator(part).count()) > 0, part);
    assert.equal((await answer.textContent()).match(mark).length, 1);
    await answer.getByRole("button", { expanded: false }).last().click();
    assert.match(await answer.locator(".usage").textContent(), figures);

    // Questions that come below the answer would move it, which closes a card.
    await page.locator(".follow-ups button").nth(1).waitFor();
    const cite = answer.locator("a[data-source]").last();
    await cite.hover();
    await page.locator("#citation-card").getByRole("link").waitFor();
    await page.keyboard.press("Escape");
    const [opened] = await Promise.all([context.waitForEvent("page"), cite.click()]);
    await opened.waitForLoadState();
    assert.ok(opened.url().startsWith(`${url}/demo/${locale.slice(0, 2)}/`), opened.url());
    assert.equal(await opened.locator("h1").textContent(), await opened.title().then((title) => title.replace(" – Lambda Chat", "")));
    assert.equal(await opened.locator("body").evaluate((body) => getComputedStyle(body).maxWidth), "672px", "the policy permits the style");
    await assertAccessible(opened);
    await opened.close();
    await answer.locator(".rounds > .step").click();
    if (locale === "zh-CN") await answer.locator(".step", { hasText: /\d+ 个字符/ }).waitFor();

    await page.locator(".follow-ups button").nth(1).click();
    await lastAnswer(page).locator(".message-actions").waitFor();
    await lastAnswer(page).locator(".prose", { hasText: "DynamoDB" }).waitFor();
  });
}

test("the second example cites lines of documents that open", async (t) => {
  const { page } = await sendExample(t, 1);
  await ended(page);
  await lastAnswer(page).getByRole("button", { name: /conversations\.md:3/ }).click();
  await page.locator(".passage .cited", { hasText: "Conversations and messages are kept in DynamoDB." }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Model and agent: Documents" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Model and agent: Default" }).waitFor();
});

test("a step and the agent of the second example are Chinese on a Chinese page", async (t) => {
  const { page } = await sendExample(t, 1, "zh-CN");
  await ended(page);
  await page.getByRole("button", { name: /：文档$/ }).click();
  await page.getByText("根据本部署的文档回答").waitFor();
  await page.keyboard.press("Escape");
  assert.match(await lastAnswer(page).locator(".step").first().textContent(), /^\s*已检索文档 [^|?]+\d 处匹配 · \d+ 个文件\s*$/);
});

test("the agent of the second example is that of its conversation only", async (t) => {
  const { page } = await sendExample(t, 1);
  await ended(page);
  await page.getByRole("button", { name: "Model and agent: Documents" }).waitFor();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("button", { name: "Model and agent: Default" }).waitFor();
});

test("the third example continues to the letter after a cut", async (t) => {
  const { page, watch } = await sendExample(t, 2);
  const text = () => lastAnswer(page).locator(".prose").last().textContent();
  await lastAnswer(page).locator(".prose").getByText("Nothing is lost.").waitFor();
  const before = await text();
  // A slow machine may see the note only after it changed.
  await page.evaluate(() => {
    window.notes = [];
    const note = document.querySelector("#demo [role=status]");
    new MutationObserver(() => window.notes.push(note.textContent)).observe(note, { characterData: true, childList: true, subtree: true });
  });
  await page.locator("#demo-cut").click();
  await page.locator("#demo").getByText(/^Reconnected after character [\d,]+\./).waitFor();
  const [cut, resumed] = await page.evaluate(() => window.notes.filter((note) => note !== ""));
  assert.match(cut, /^Connection cut after character [\d,]+\. Reconnecting…$/);
  assert.equal(resumed.match(/[\d,]+/)[0], cut.match(/[\d,]+/)[0]);
  await ended(page);
  assert.equal(watch.requests.filter((address) => address.endsWith("/stream")).length, 1, "one request resumed it");
  const whole = await text();
  assert.ok(before.length < whole.length, "it was cut before its end");
  const counted = await lastAnswer(page).locator(".prose p", { hasText: /^\d+, \d+/ }).allTextContents();
  assert.deepEqual(counted.join(", ").split(", ").map(Number), Array.from({ length: 100 }, (_, n) => n + 1));
  assert.equal(await page.locator("#demo-cut").count(), 0);

  await page.reload();
  await ended(page);
  assert.equal(await text(), whole, "the stored answer is the same");
});

test("a cut that ends an answer leaves no note", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model, search } = fixture;
  const [id] = await converse(fixture, [["Tea?", "Steep it at 70 degrees."]]);
  await page.route("**/api/models", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const entry of body.models) entry.demo = true;
    await route.fulfill({ response, json: body });
  });
  let lose;
  const lost = new Promise((resolve) => (lose = resolve));
  await page.route("**/stream", (route) => lost.then(() => route.fulfill({ status: 204 })));
  await page.goto(`${url}/#/c/${id}`);
  await lastAnswer(page).locator(".message-actions").waitFor();
  await sendMessage(page, "And coffee?");
  (await model.next()).callSearch("coffee");
  await search.next();
  await lastAnswer(page).locator(".step.running").waitFor();

  const cut = await page.locator("#demo-cut").elementHandle();
  await cut.evaluate((button) => button.click());
  // The earlier answer has a text; that of this one has not begun.
  await page.locator("#demo", { hasText: "Connection cut after character 0. Reconnecting…" }).waitFor();
  assert.equal(await page.locator("#demo-more").count(), 0);
  lose();
  await page.locator("#demo-more").waitFor();
  await page.locator("#demo", { hasText: "It only knows about Lambda Chat." }).waitFor();

  await cut.evaluate((button) => {
    button.click();
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
  assert.match(await page.locator("#demo").textContent(), /It only knows about Lambda Chat\./);
});

test("with two running answers, the cut is that of the open conversation", async (t) => {
  const { page, url, model, watch } = await setUp(t);
  await page.route("**/api/models", async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    for (const entry of body.models) entry.demo = true;
    await route.fulfill({ response, json: body });
  });
  await page.goto(url);
  const begin = async (text) => {
    await sendMessage(page, text);
    (await model.next()).sendText(`About ${text}.`);
    await lastAnswer(page).getByText(`About ${text}.`).waitFor();
    return page.url().split("/").at(-1);
  };
  const tea = await begin("tea");
  await page.getByRole("button", { name: "New conversation" }).first().click();
  await begin("coffee");
  await page.locator("#conversations").getByRole("link", { name: "tea" }).click();
  await lastAnswer(page).getByText("About tea.").waitFor();
  await page.locator("#demo-cut").click();
  await page.locator("#demo").getByText(/^Reconnected after character 10\./).waitFor();
  const resumed = watch.requests.filter((address) => address.endsWith("/stream"));
  assert.deepEqual(resumed, [`${url}/api/conversations/${tea}/stream`]);
});

test("the page follows an answer that was cut, and no other conversation reports it", async (t) => {
  const { page, url } = await setUp(t, { settings: DEMO, context: { viewport: { width: 390, height: 640 } } });
  await page.goto(url);
  await page.locator(".example").nth(2).click();
  await lastAnswer(page).locator(".prose").getByText("Nothing is lost.").waitFor();
  await page.locator("#demo-cut").click();
  await page.locator("#demo").getByText(/^Reconnected after character/).waitFor();
  await ended(page);
  const distance = () => page.locator("#scroller").evaluate(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop);
  assert.ok((await distance()) < 32, "the end is on the screen");
  assert.equal(await page.locator("#jump").isVisible(), false);
  await page.getByRole("button", { name: "New conversation" }).first().click();
  await page.locator("#demo", { hasText: "It only knows about Lambda Chat." }).waitFor();
});
