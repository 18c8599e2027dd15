// A blank page with the page's Markdown view, without a server and without the page's policy.

import { after } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const SOURCES = new URL("../../../functions/chat/page/", import.meta.url);

/** Bundles the view; the parts that it loads on demand do not exist. */
async function bundle() {
  const { build } = (await import(new URL("node_modules/esbuild/lib/main.js", SOURCES).href)).default;
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("src/markdown/view.ts", SOURCES))],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "markdown",
    absWorkingDir: fileURLToPath(SOURCES),
    alias: { mdurl: "./src/markdown/urls.ts", "punycode.js": "./src/markdown/no-punycode.ts", "uc.micro": "./src/markdown/unicode-classes.ts" },
    define: { CODE_PART: '"./absent.js"', MATHS_PART: '"./absent.js"' },
  });
  return outputFiles[0].text;
}

/** Opens the blank page; `window.render(text, pieces)` renders a text whole or in pieces and returns its HTML. */
export async function openMarkdown() {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  after(() => browser.close());
  const page = await browser.newPage({ locale: "en-GB" });
  await page.route("**/*", (route) => route.fulfill({ body: "<!doctype html>", contentType: "text/html" }));
  await page.goto("http://127.0.0.1:1/");
  await page.addScriptTag({ content: await bundle() });
  await page.evaluate(() => {
    const source = (number) => (number <= 7 ? { index: number, url: `https://s${number}.example/`, title: "S" } : null);
    window.render = (text, pieces = null, cited = true, cut = false) => {
      const root = document.createElement("div");
      const options = cited ? { cite: source, hasSources: () => true, isDocument: () => true } : undefined;
      const view = new window.markdown.MarkdownView(root, options);
      for (const piece of pieces ?? [text]) {
        view.push(piece);
        if (pieces) view.render();
      }
      const streamed = root.innerHTML;
      view.finish(cut);
      root.normalize();
      const html = root.innerHTML.replaceAll(/md\d+-(fn|ref)/g, "$1");
      return { html, streamed };
    };
  });
  return page;
}
