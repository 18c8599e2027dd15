// The page on a phone, in the dark theme, by keyboard and with a screen reader.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, openSources, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

const PHONE = { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true };
const WIDE = `${"wide".repeat(60)}\n\n| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n| long cell | long cell | long cell | long cell | long cell | long cell |\n\n\`\`\`\n${"code ".repeat(60)}\n\`\`\`\n\nhttps://a.example/${"path/".repeat(40)}`;

const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

test("a phone does not scroll sideways", async (t) => {
  const fixture = await setUp(t, { context: PHONE });
  const { page, url, model, search } = fixture;
  await page.goto(url);
  assert.equal(await overflow(page), 0);
  await sendMessage(page, "x".repeat(300));
  (await model.next()).callSearch(
    "a rather long query that does not fit into one line of a phone at all, however small the letters",
  );
  (await search.next()).respond(10, [{ title: "y".repeat(200), url: `https://a.example/${"z".repeat(300)}` }]);
  const reply = await model.next();
  reply.sendText(WIDE);
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await openSources(page);
  assert.equal(await overflow(page), 0);
  for (const locator of [
    page.locator(".bubble"),
    page.locator(".step"),
    page.locator(".sources li").first(),
    prose(page),
    page.locator("#composer"),
  ]) {
    const box = await locator.boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 375, JSON.stringify(box));
  }
});

test("on a phone the list is a drawer", async (t) => {
  const fixture = await setUp(t, { context: PHONE });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "First", "One.");
  const open = page.getByRole("button", { name: "List of conversations" });
  const first = page.getByRole("link", { name: "First" });
  assert.equal(await first.isVisible(), false);
  await open.click();
  await first.waitFor();
  assert.equal(await open.getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Escape");
  await first.waitFor({ state: "hidden" });
  await open.click();
  await page.getByRole("button", { name: "Close the list" }).click();
  await first.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.locator("#welcome").waitFor();
  await open.click();
  await first.click();
  await first.waitFor({ state: "hidden" });
  await waitForText(prose(page), "One.");
});

test("the composer grows within the screen", async (t) => {
  const { page, url } = await setUp(t, { context: PHONE });
  await page.goto(url);
  const height = async () => (await page.locator("#composer").boundingBox()).height;
  const low = await height();
  await page.getByRole("textbox", { name: "Message" }).fill("a\nb\nc\nd");
  const higher = await height();
  assert.ok(higher > low + 50);
  await page.getByRole("textbox", { name: "Message" }).fill("a\n".repeat(100));
  assert.ok((await height()) < 400);
  const send = await page.getByRole("button", { name: "Send" }).boundingBox();
  assert.ok(send.y + send.height <= 700);
});

const lightness = (page) =>
  page.evaluate(() => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
    return red + green + blue;
  });

test("the theme follows the system until chosen", async (t) => {
  const { page, url } = await setUp(t, { context: { colorScheme: "dark" } });
  await page.goto(url);
  assert.ok((await lightness(page)) < 150);
  await page.getByRole("button", { name: "Use light colours" }).click();
  assert.ok((await lightness(page)) > 700);
  await page.reload();
  assert.ok((await lightness(page)) > 700);
  await page.getByRole("button", { name: "Use dark colours" }).click();
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Use dark colours" }).waitFor();
  assert.ok((await lightness(page)) > 700);
});

test("the closed list stays closed", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  const list = page.getByRole("navigation", { name: "Conversations" });
  await list.waitFor();
  await page.getByRole("button", { name: "List of conversations" }).click();
  await list.waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("button", { name: "New conversation" }).waitFor();
  assert.equal(await list.isVisible(), false);
});

/** Presses Tab until the focused element has this name; asserts that each focused element shows the focus. */
async function tabTo(page, name, key = "Tab") {
  const stops = [];
  for (let n = 0; n < 40; n += 1) {
    await page.keyboard.press(key);
    const stop = await page.evaluate(() => {
      const node = document.activeElement;
      if (node === document.body) return { name: "", shown: true };
      const style = getComputedStyle(["message", "search"].includes(node.id) ? node.parentElement : node);
      const name = node.getAttribute("aria-label") ?? (node.labels?.[0] ?? node).textContent;
      return { name: name.trim().replace(/\s+/g, " "), shown: style.outlineStyle !== "none" };
    });
    stops.push(stop.name);
    assert.ok(stop.shown, `${stop.name} does not show the focus`);
    if (stop.name === name) return;
  }
  assert.fail(`${name} was not reached: ${stops.join(", ")}`);
}

test("the keyboard reaches all functions", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await tabTo(page, "Skip to the message box");
  await page.keyboard.press("Enter");
  await page.keyboard.type("First line");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("second line");
  await page.keyboard.press("Enter");
  const reply = await model.next();
  reply.sendText("Done.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await waitForText(page.locator(".bubble"), "First line\nsecond line");

  await tabTo(page, "Copy", "Shift+Tab");
  await tabTo(page, "First line second line", "Shift+Tab");
  await tabTo(page, "Actions for First line second line");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Rename conversation" }).waitFor();
  await page.keyboard.type("Renamed");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Renamed" }).waitFor();
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Actions for Renamed");
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Delete this conversation?" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement.getAttribute("aria-label") === "Actions for Renamed");
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await tabTo(page, "Delete");
  await page.keyboard.press("Enter");
  await page.getByText("Your conversations will appear here.").waitFor();
});

test("a dialog traps the focus", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Question", "Yes.");
  await page.getByRole("link", { name: "Question" }).hover();
  await page.getByRole("button", { name: "Actions for Question" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog", { name: "Rename conversation" }).waitFor();
  for (let n = 0; n < 8; n += 1) {
    await page.keyboard.press("Tab");
    assert.ok(
      await page.evaluate(
        () => document.activeElement === document.body || document.activeElement.closest("dialog") !== null,
      ),
    );
  }
});

test("Enter in an input method does not send", async (t) => {
  const { page, url, context } = await setUp(t);
  await page.goto(url);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.focus();
  const input = await context.newCDPSession(page);
  await input.send("Input.imeSetComposition", { text: "nihao", selectionStart: 5, selectionEnd: 5 });
  await input.send("Input.dispatchKeyEvent", {
    type: "keyDown",
    key: "Enter",
    code: "Enter",
    windowsVirtualKeyCode: 229,
  });
  await input.send("Input.insertText", { text: "你好" });
  assert.equal(await box.inputValue(), "你好");
  assert.equal(await page.locator(".turn").count(), 0);
});

test("screen readers get search and end, not deltas", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await page.evaluate(() => {
    window.announced = [];
    const region = document.getElementById("announcer");
    new MutationObserver(() => window.announced.push(region.textContent)).observe(region, { childList: true });
  });
  await sendMessage(page, "News?");
  (await model.next()).callSearch("news");
  await lastAnswer(page).locator(".step.running").waitFor();
  (await search.next()).respond(2);
  await lastAnswer(page).locator(".step.ok").waitFor();
  const reply = await model.next();
  for (const delta of ["Nothing ", "new ", "today."]) reply.sendText(delta);
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  const announced = await page.evaluate(() => window.announced);
  assert.deepEqual(announced, ["Searching: news", "2 results", "Answer complete."]);
  assert.equal(await page.locator("main [aria-live], main [role=log]").count(), 0);
});

test("scrolling up stops following until resumed", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Long?");
  const reply = await model.next();
  reply.sendText("line\n\n".repeat(80));
  await prose(page).locator("p").nth(79).waitFor();
  const scroller = page.locator("#scroller");
  const distance = () => scroller.evaluate((node) => node.scrollHeight - node.clientHeight - node.scrollTop);
  await page.getByRole("button", { name: "Go to the latest message" }).click();
  await scroller.hover();
  await page.mouse.wheel(0, -800);
  await page.getByRole("button", { name: "Go to the latest message" }).waitFor();
  const before = await scroller.evaluate((node) => node.scrollTop);
  reply.sendText("more\n\n".repeat(20));
  await prose(page).locator("p").nth(99).waitFor({ state: "attached" });
  assert.equal(await scroller.evaluate((node) => node.scrollTop), before);
  await page.getByRole("button", { name: "Go to the latest message" }).click();
  assert.ok((await distance()) < 2);
  reply.sendText("end");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.getByRole("button", { name: "Go to the latest message" }).waitFor({ state: "hidden" });
});
