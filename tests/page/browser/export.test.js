// One conversation as a file or on paper, and conversations from a file.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { assertAccessible } from "../support/axe.js";
import { setUp, waitForText } from "../support/fixture.js";
import { choose, converse, list, titles } from "../support/library.js";

const exporter = (page) => page.getByRole("dialog", { name: "Export a conversation" });
const importer = (page) => page.getByRole("dialog", { name: "Import conversations" });

/** A conversation of a ChatGPT export. */
function chatGptConversation(title, question, answer) {
  const message = (id, role, text) => ({ id, author: { role }, create_time: 1_700_000_000, content: { content_type: "text", parts: [text] }, status: "finished_successfully", end_turn: true, weight: 1, metadata: {}, recipient: "all" });
  const mapping = {
    root: { id: "root", message: null, parent: null, children: ["q"] },
    q: { id: "q", message: message("q", "user", question), parent: "root", children: ["a"] },
    a: { id: "a", message: message("a", "assistant", answer), parent: "q", children: [] },
  };
  return { title, create_time: 1_700_000_000, update_time: 1_700_000_100, mapping, current_node: "a" };
}

/** Opens the import in the settings and chooses a file. */
async function chooseFile(page, buffer, name = "conversations.json") {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Import…" }).click();
  await importer(page).getByLabel("File").setInputFiles({ name, mimeType: "application/json", buffer });
}

const start = (page) => importer(page).getByRole("button", { name: "Import", exact: true }).click();

async function saved(page, name) {
  const download = page.waitForEvent("download");
  await exporter(page).getByRole("button", { name }).click();
  const file = await download;
  return [file.suggestedFilename(), await readFile(await file.path(), "utf8")];
}

test("a conversation is saved, deleted and imported again", async (t) => {
  const fixture = await setUp(t);
  const { page, url } = fixture;
  await converse(fixture, [["Tea: green or black?", "Steep **green** tea."]]);
  await page.goto(url);
  await choose(page, "Tea: green or black?", "Export…");
  await assertAccessible(page);
  const [markdownName, markdown] = await saved(page, "Markdown");
  assert.equal(markdownName, "Tea green or black.md");
  assert.match(markdown, /Tea: green or black\?[\s\S]*Steep \*\*green\*\* tea\./);
  const [jsonName, json] = await saved(page, "JSON");
  assert.equal(jsonName, "Tea green or black.json");
  await exporter(page).getByText("Saved as Tea green or black.json.").waitFor();
  await page.keyboard.press("Escape");
  await choose(page, "Tea: green or black?", "Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await list(page).getByText("Your conversations will appear here.").waitFor();
  await chooseFile(page, Buffer.from(json));
  await start(page);
  await importer(page).getByText("1 conversation imported.").waitFor();
  await assertAccessible(page);
  await page.keyboard.press("Escape");
  await list(page).getByRole("link", { name: "Tea: green or black?" }).click();
  await waitForText(page.locator(".answer .prose"), "Steep green tea.");
});

test("a ChatGPT export is imported, and what was skipped is listed", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  const file = [chatGptConversation("About tea", "Tea?", "Steep it."), { title: "Broken", mapping: 7 }, chatGptConversation("About heat", "Heat?", "Pump it.")];
  await chooseFile(page, Buffer.from(JSON.stringify(file)));
  await start(page);
  await importer(page).getByText("2 conversations imported.").waitFor();
  await importer(page).getByText("1 conversation skipped:").waitFor();
  await importer(page).getByRole("listitem").filter({ hasText: /^Broken · .+/ }).waitFor();
  await page.keyboard.press("Escape");
  await list(page).getByRole("link", { name: "About heat" }).waitFor();
  assert.deepEqual((await titles(page)).sort(), ["About heat", "About tea"]);
});

test("a large import is sent in parts, and continues after a failure", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  const file = Array.from({ length: 120 }, (_, n) => chatGptConversation(`Talk ${n}`, "Question?", "Answer."));
  const keys = [];
  await page.route("**/api/conversations/import", (route) => {
    keys.push([route.request().headers()["idempotency-key"], route.request().postDataJSON().length]);
    return keys.length === 2 ? route.abort() : route.continue();
  });
  await chooseFile(page, Buffer.from(JSON.stringify(file)));
  await start(page);
  await importer(page).getByRole("alert").getByText("The server can’t be reached. The rest wasn’t imported.").waitFor();
  await importer(page).getByText("50 conversations imported.").waitFor();
  await importer(page).getByRole("button", { name: "Continue" }).click();
  await importer(page).getByText("120 conversations imported.").waitFor();
  assert.deepEqual(keys.map(([, count]) => count), [50, 50, 50, 20]);
  assert.equal(keys[1][0], keys[2][0], "the repeated part has the same key");
  assert.equal(new Set(keys.map(([key]) => key)).size, 3);
});

test("a file that cannot be imported is refused with its reason", async (t) => {
  const { page, url } = await setUp(t);
  await page.goto(url);
  await chooseFile(page, Buffer.from("{"));
  await start(page);
  await importer(page).getByRole("alert").getByText("The file isn’t valid JSON.").waitFor();
  const choice = importer(page).getByLabel("File");
  await choice.setInputFiles({ name: "a.json", mimeType: "application/json", buffer: Buffer.from("[]") });
  await start(page);
  await importer(page).getByRole("alert").getByText("The file has no conversations.").waitFor();
  const folder = await mkdtemp(path.join(tmpdir(), "import-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const large = path.join(folder, "large.json");
  await writeFile(large, Buffer.alloc(20 * 1024 * 1024 + 1, " "));
  await choice.setInputFiles(large);
  await start(page);
  await importer(page).getByRole("alert").getByText("The file is larger than 20 MiB.").waitFor();
});

test("what is printed has all messages and the addresses of sources", async (t) => {
  const { page, url, model, search } = await setUp(t);
  const sent = fetch(`${url}/api/chat`, { method: "POST", headers: { "content-type": "application/json" }, body: '{"message":"Tea?"}' });
  (await model.next()).callSearch("tea");
  (await search.next()).respond(7);
  const reply = await model.next();
  reply.sendText("Green [1]. $x^2$");
  reply.end();
  await (await sent).text();
  await page.goto(url);
  // The print dialog of a real browser blocks the page.
  await page.evaluate(() => {
    globalThis.print = () => {
      globalThis.printed = true;
    };
  });
  await choose(page, "Tea?", "Export…");
  await exporter(page).getByRole("button", { name: "Print or save as PDF" }).click();
  await page.waitForFunction(() => globalThis.printed);
  await page.emulateMedia({ media: "print" });
  const copy = page.locator("#print-copy");
  await copy.locator("math").waitFor();
  await waitForText(copy.getByRole("heading", { level: 1 }), "Tea?");
  assert.equal(await copy.locator(".sources li:visible").count(), 7);
  const address = await copy.locator(".sources a").last().evaluate((node) => getComputedStyle(node, "::after").content);
  assert.equal(address, '"https://site7.example/page"');
  assert.equal(await page.locator("#page").isVisible(), false);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await copy.count(), 0);
  await page.emulateMedia({ media: "screen" });
  assert.equal(await page.locator("#page").isVisible(), true);
});
