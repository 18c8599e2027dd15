// Where things are: the composer before and after the first message, the question at the top, the line below an answer.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp } from "../support/fixture.js";

const top = async (locator) => (await locator.boundingBox()).y;

for (const [name, context] of Object.entries({ desktop: {}, phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } })) {
  test(`the composer is below the headline until the first message on a ${name}`, async (t) => {
    const fixture = await setUp(t, { context });
    const { page, url } = fixture;
    await page.goto(url);
    const composer = page.locator("#composer");
    const headline = await page.locator("#welcome h2").boundingBox();
    const before = await top(composer);
    assert.ok(before > headline.y + headline.height && before < headline.y + 240, `${before} after ${headline.y}`);
    assert.ok((await top(page.getByRole("button", { name: "What is 365 × 24 × 60?" }))) > before);
    await exchange(fixture, "Hello?", "Yes.");
    const { y, height } = await composer.boundingBox();
    assert.ok(y + height > page.viewportSize().height - 40, "the composer is at the end of the page");
    assert.equal(await page.locator(".example").first().isVisible(), false);
  });
}

test("a question goes to the top and its answer grows below it", async (t) => {
  const fixture = await setUp(t);
  const { page, url, model } = fixture;
  await page.goto(url);
  await exchange(fixture, "Long?", "A paragraph.\n\n".repeat(60));
  await sendMessage(page, "Longer?");
  const reply = await model.next();
  reply.sendText("First.\n\n");
  await prose(page).getByText("First.").waitFor();
  const question = page.locator(".bubble").last();
  const before = await top(question);
  const header = await page.locator("#main > header").boundingBox();
  assert.ok(before - header.height < 60, `${before} below ${header.height}`);
  reply.sendText("A line.\n\n".repeat(80));
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.equal(await top(question), before);
  await page.getByRole("button", { name: "Go to the latest message" }).click();
  assert.ok((await top(question)) < 0);
});

test("a text of one line shares its line with the buttons", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  const height = async () => (await page.locator("#composer").boundingBox()).height;
  const low = await height();
  assert.ok(low < 64, String(low));
  await messageBox(page).fill("One.\nTwo.");
  assert.ok((await height()) > low + 20);
  await messageBox(page).fill("One.");
  assert.equal(await height(), low);
});

test("one line below an answer has its sources and what can be done", async (t) => {
  const { page, url, model, search } = await setUp(t, { context: { viewport: { width: 320, height: 700 } } });
  await page.goto(url);
  await sendMessage(page, "Tea?");
  (await model.next()).callSearch("which tea is the best one for a cold evening in winter");
  (await search.next()).respond(3);
  const reply = await model.next();
  reply.sendText("Leaves [2].");
  reply.end();
  for (const part of [".verb", ".outcome"]) {
    const cut = await lastAnswer(page).locator(`.step.ok ${part}`).evaluate((node) => node.scrollWidth - node.clientWidth);
    assert.equal(cut, 0, `${part} is whole`);
  }
  const footer = lastAnswer(page).locator(".answer-footer");
  const toggle = footer.getByRole("button", { name: "3 sources" });
  await toggle.waitFor();
  assert.ok((await footer.boundingBox()).height < 50, "it is one line also on a small phone");
  assert.equal(await lastAnswer(page).locator(".usage").isVisible(), false);
  await footer.getByRole("button", { name: "More", expanded: false }).click();
  await footer.getByText(/tokens in · .* search credits · /).waitFor();
  await toggle.click();
  assert.equal(await lastAnswer(page).locator(".sources li:visible").count(), 3);
  await toggle.click();
  assert.equal(await lastAnswer(page).locator(".sources li:visible").count(), 0);
});

test("a line of steps gives up its counts before its verb", async (t) => {
  const { page, url, model, search } = await setUp(t, { context: { viewport: { width: 320, height: 700 } } });
  await page.goto(url);
  await sendMessage(page, "Tea?");
  for (const query of ["black tea", "green tea"]) {
    (await model.next()).callSearch(query);
    (await search.next()).respond(3);
  }
  const reply = await model.next();
  reply.sendText("Leaves.");
  reply.end();
  await lastAnswer(page).locator(".step-count").waitFor({ state: "attached" });
  const verb = lastAnswer(page).locator(".step .verb");
  await verb.evaluate((node) => (node.textContent = "Searched and read"));
  assert.equal(await verb.evaluate((node) => node.scrollWidth - node.clientWidth), 0);
});

test("the placeholder is whole on a small phone before the first message", async (t) => {
  const { page, url } = await setUp(t, { context: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true } });
  await page.route("**/api/models", async (route) => {
    const response = await route.fetch();
    const { models } = await response.json();
    await route.fulfill({ response, json: { models: [...models, { ...models[0], name: "Another", default: false }], attachments: true } });
  });
  await page.goto(url);
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await page.locator("#choice button").waitFor();
  await page.waitForFunction(() => {
    const box = document.getElementById("message");
    return box.scrollHeight <= box.clientHeight + 1;
  });
});

test("sources that open are on the screen", async (t) => {
  const { page, url, model, search } = await setUp(t, { context: { viewport: { width: 390, height: 600 } } });
  await page.goto(url);
  await sendMessage(page, "Tea?");
  (await model.next()).callSearch("tea");
  (await search.next()).respond(3);
  const reply = await model.next();
  reply.sendText("Leaves.\n\n".repeat(9));
  reply.end();
  await lastAnswer(page).getByRole("button", { name: "3 sources" }).click();
  const below = await lastAnswer(page).locator(".sources").boundingBox();
  const end = await top(page.locator("#main > footer"));
  assert.ok(below.y + below.height <= end + 1, `${JSON.stringify(below)} above ${end}`);
});

test("a note that appears at the end of a text is on the screen", async (t) => {
  const { page, url, model } = await setUp(t, { context: { viewport: { width: 390, height: 600 } } });
  await page.goto(url);
  await sendMessage(page, "Tell me.");
  const reply = await model.next();
  // The text fills the screen to its end.
  const fills = () => page.evaluate(() => {
    const bottom = (id) => document.querySelector(id).getBoundingClientRect().bottom;
    return bottom(".answer .prose") > bottom("#scroller") - 60;
  });
  for (let line = 1; !(await fills().catch(() => false)); line += 1) {
    reply.sendText(`Line ${line}.\n\n`);
    await prose(page).getByText(`Line ${line}.`, { exact: true }).waitFor();
  }
  reply.end("length");
  await lastAnswer(page).getByText("The model reached its output limit").waitFor();
  await page.waitForFunction(() => {
    const note = document.querySelector(".answer .note").getBoundingClientRect();
    return note.bottom <= document.getElementById("scroller").getBoundingClientRect().bottom;
  });
});

test("what is typed without a focus goes into the box, and the arrow recalls the last message", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Hello?", "Yes.");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.type("abc");
  assert.equal(await messageBox(page).inputValue(), "abc");
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.locator(".editor").count(), 0, "a draft stays");
  await messageBox(page).fill("");
  await messageBox(page).press("ArrowUp");
  assert.equal(await page.locator(".editor textarea").inputValue(), "Hello?");
});

test("the title marks an answer that ended while the page was hidden", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Hello?");
  const hide = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await hide(true);
  const reply = await model.next();
  reply.sendText("Yes.");
  reply.end();
  await page.waitForFunction(() => document.title.startsWith("● "));
  await hide(false);
  await page.waitForFunction(() => !document.title.includes("●"));
});

test("a folded question ends with a whole line", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, Array.from({ length: 20 }, (_, n) => `Line ${n}`).join("\n"), "Yes.");
  const lines = await page.locator(".bubble").evaluate((bubble) => bubble.clientHeight / Number.parseFloat(getComputedStyle(bubble).lineHeight));
  assert.ok(Math.abs(lines - 12) < 0.1, `${lines} lines`);
});

test("the button to the latest message covers no text", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Long?", "A paragraph of a text that fills the line. ".repeat(400));
  for (const width of [320, 390, 1024, 1280]) {
    await page.setViewportSize({ width, height: 700 });
    const button = page.getByRole("button", { name: "Go to the latest message" });
    await button.waitFor();
    const [box, text, scroller] = await Promise.all([button, prose(page), page.locator("#scroller")].map((part) => part.boundingBox()));
    assert.ok(box.y >= scroller.y + scroller.height || box.x >= text.x + text.width, `${width}: ${JSON.stringify([box, text, scroller])}`);
  }
});
