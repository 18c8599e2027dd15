// States that users meet now and then: long lists, lost connections, other tabs, old browsers, no JavaScript, installation.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp } from "../support/fixture.js";

const list = (page) => page.getByRole("navigation");

test("more conversations keep the focus in the list", async (t) => {
  const { page, url } = await setUp(t);
  await page.route("**/api/conversations?*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    const conversations = Array.from({ length: 30 }, (_, n) => {
      const time = new Date(Date.UTC(2026, 0, 1) - (from + n) * 1000).toISOString();
      return { id: `C${from + n}`, title: `Talk ${from + n}`, createdAt: time, updatedAt: time };
    });
    return route.fulfill({ json: { conversations, nextCursor: from < 30 ? "30" : null } });
  });
  // A browser that does not report what is in view: the button remains.
  await page.addInitScript(() => {
    globalThis.IntersectionObserver = class {
      observe() {}
      disconnect() {}
    };
  });
  await page.goto(url);
  await list(page).getByRole("button", { name: "More" }).focus();
  await page.keyboard.press("Enter");
  const added = list(page).getByRole("link", { name: "Talk 30", exact: true });
  await added.waitFor();
  assert.ok(await added.evaluate((link) => link === document.activeElement), "the first new conversation");
});

for (const colorScheme of ["light", "dark"]) {
  test(`without light-dark() colours are opaque in ${colorScheme}`, async (t) => {
    const { page, url, model, search } = await setUp(t, { context: { colorScheme } });
    // An older browser: it drops declarations with functions that it does not know.
    await page.route(/:\d+\/$/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replaceAll("light-dark(", "unknown(").replaceAll("color-mix(", "unknown(");
      await route.fulfill({ response, body, headers: { ...response.headers(), "content-security-policy": "" } });
    });
    await page.goto(url);
    await sendMessage(page, "Tea?");
    (await model.next()).callSearch("tea");
    (await search.next()).respond(2);
    const reply = await model.next();
    reply.sendText("Green [1].\n\n```\ncode\n```");
    reply.end();
    await lastAnswer(page).locator(".message-actions").waitFor();
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("dialog").waitFor();
    const transparent = await page.evaluate(() =>
      ["body", "#sidebar", ".bubble", ".step", ".prose .code", ".cite a", "dialog"].filter((selector) => {
        const { backgroundColor, color } = getComputedStyle(document.querySelector(selector));
        return backgroundColor === "rgba(0, 0, 0, 0)" || backgroundColor === color;
      }),
    );
    assert.deepEqual(transparent, []);
  });
}

test("the composer is as wide as the text", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "Long?", "A paragraph that fills the column of the text. ".repeat(400));
  for (const width of [761, 900, 1077, 1400]) {
    await page.setViewportSize({ width, height: 700 });
    // The width of the scroll bar is measured when the layout has changed.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const [answer, composer] = await Promise.all([lastAnswer(page).boundingBox(), page.locator("#composer").boundingBox()]);
    const edges = [answer.x - composer.x, answer.x + answer.width - composer.x - composer.width];
    assert.ok(edges.every((edge) => Math.abs(edge) <= 1), `${width}: ${edges}`);
  }
});

test("without JavaScript one sentence explains it", async (t) => {
  const { page, url } = await setUp(t, { context: { javaScriptEnabled: false }, fromServer: true });
  await page.goto(url);
  const text = await page.locator("body").innerText();
  assert.match(text, /^This page needs JavaScript\. .*\n此页面需要 JavaScript。.*$/);
  assert.equal(await page.getByRole("button").count(), 0);
  assert.equal(await page.getByRole("textbox").count(), 0);
  const box = await page.locator(".noscript").boundingBox();
  assert.ok(box.y >= 0 && box.y + box.height <= 800);
});

test("another tab's conversations appear in the list", async (t) => {
  const fixture = await setUp(t);
  const { page, url, context, model } = fixture;
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  const other = await context.newPage();
  await other.goto(url);
  await exchange({ page: other, model }, "Made in the other tab", "Yes.");
  await list(page).getByRole("link", { name: "Made in the other tab" }).click();
  await prose(page).getByText("Yes.").waitFor();
  const shown = (tab) => lastAnswer(tab).evaluate((answer) => answer.innerText);
  assert.equal(await shown(page), await shown(other));
  await other.getByRole("button", { name: /^Actions for/ }).click();
  await other.getByRole("menuitem", { name: "Rename" }).click();
  await other.getByLabel("Title").fill("Renamed");
  await other.getByRole("button", { name: "Rename", exact: true }).last().click();
  await list(page).getByRole("link", { name: "Renamed" }).waitFor();
});

for (const [name, context] of [["desktop", {}], ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }]]) {
  test(`a failed step is one line on a ${name}`, async (t) => {
    const { page, url, model, search } = await setUp(t, { context });
    await page.goto(url);
    await sendMessage(page, "What is on https://tea.example/a/page ?");
    const first = await model.next();
    first.sendText('<tool_call>{"tool":"read_url","url":"https://tea.example/a/page"}</tool_call>');
    first.end();
    (await search.next()).fail(400);
    const reply = await model.next();
    reply.sendText("I could not read it.");
    reply.end();
    await lastAnswer(page).locator(".message-actions").waitFor();
    const step = lastAnswer(page).locator(".step.failed");
    const lines = await step.evaluate((line) => {
      const parts = [...line.querySelectorAll(".verb, .object, .outcome")].map((part) => part.getBoundingClientRect());
      return new Set(parts.map(({ top, height }) => Math.round((top + height / 2) / 4))).size;
    });
    assert.equal(lines, 1);
    const [answer, box] = await Promise.all([lastAnswer(page).boundingBox(), step.boundingBox()]);
    assert.ok(box.height <= 46 && box.x + box.width <= answer.x + answer.width + 1);
    const text = (await lastAnswer(page).innerText()).replaceAll(/\s+/g, " ");
    assert.match(text, /^Answer ?Read tea\.example /);
    assert.doesNotMatch(text, /read_url|· ·/);
  });
}

for (const [name, comeBack] of [
  ["online", ({ context }) => context.setOffline(false)],
  ["visible", async ({ context, page }) => {
    // The browser reports no change of the connection, as after a server's restart.
    await page.evaluate(() => window.addEventListener("online", (event) => event.stopImmediatePropagation(), true));
    await context.setOffline(false);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  }],
]) {
  test(`a failed load is repeated when the page is ${name} again`, async (t) => {
    const fixture = await setUp(t);
    const { page, url, context } = fixture;
    await page.goto(url);
    await exchange(fixture, "First", "One.");
    const address = page.url();
    await page.getByRole("button", { name: "New conversation" }).first().click();
    await context.setOffline(true);
    await page.evaluate((hash) => { location.hash = hash; }, new URL(address).hash);
    await page.locator(".load-error").first().waitFor();
    await comeBack(fixture);
    await prose(page).getByText("One.").waitFor();
    assert.equal(await page.locator(".load-error").count(), 0);
    assert.equal(await page.locator("#toast").isVisible(), false);
    await messageBox(page).fill("Ready");
  });
}

test("the page can be installed", async (t) => {
  const { page, url, context } = await setUp(t, { fromServer: true });
  await page.goto(url);
  const devtools = await context.newCDPSession(page);
  const { url: address, errors, data } = await devtools.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  const manifest = JSON.parse(data);
  assert.deepEqual([manifest.name, manifest.display], ["Lambda Chat", "standalone"]);
  assert.equal(new URL(manifest.start_url, address).href, `${url}/`);
  for (const { src, type } of manifest.icons) {
    const icon = await fetch(new URL(src, address));
    assert.deepEqual([icon.status, icon.headers.get("content-type")], [200, type]);
  }
});
