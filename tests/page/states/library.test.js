// The list with pins, a search and the archive, the palette, and the dialogs to share, export and import, in every state.

import { ended, openSettings, send, states } from "../support/states.js";
import { TEXTS } from "./texts.js";

const json = { "content-type": "application/json" };

/** Sends a question and waits for its answer; resolves to the id of its conversation. */
async function converse({ page, model }, question, answer) {
  await send(page, question);
  const reply = await model.next();
  reply.sendText(answer);
  reply.end();
  await ended(page);
  return /#\/c\/(\w+)/.exec(page.url())[1];
}

states("the list, its search and the archive", async ({ open, language, phone }) => {
  const fixture = await open();
  const { page, url, check } = fixture;
  const texts = TEXTS[language];
  await page.goto(url);
  const pinned = await converse(fixture, texts.question, texts.answer.replace(/ ?\[\d\]/g, ""));
  await page.goto(`${url}/#/`);
  const archived = await converse(fixture, texts.story, texts.begin);
  const patch = (id, change) => fetch(`${url}/api/conversations/${id}`, { method: "PATCH", headers: json, body: JSON.stringify(change) });
  await patch(pinned, { pinned: true });
  await patch(archived, { archived: true });
  await page.reload();
  if (phone) await page.locator("#toggle-list").click();
  await page.locator("#conversations li > .icon").waitFor();
  await check("pinned");
  await page.locator("#search").fill(texts.found);
  await page.locator(".matches mark").first().waitFor();
  await check("search");
  await page.locator("#search").fill("zzz");
  await page.locator("#conversations .empty").waitFor();
  await check("search-empty");
  await page.locator("#search").fill("");
  await page.locator(".sidebar-foot button").first().click();
  await page.locator(".archive-head").waitFor();
  await page.locator("#conversations li").waitFor();
  await check("archive");
  if (phone) await page.locator("#close-list").click();
  await page.locator("#conversation-actions button").click();
  await check("conversation-actions");
});

states("the palette and the shortcuts", async ({ open, language }) => {
  const fixture = await open();
  const { page, url, check } = fixture;
  const texts = TEXTS[language];
  await page.goto(url);
  await converse(fixture, texts.question, texts.answer.replace(/ ?\[\d\]/g, ""));
  await page.keyboard.press("Control+k");
  await page.locator("#palette-list [role=option]").first().waitFor();
  await check("palette");
  await page.keyboard.type(texts.found);
  await page.locator("#palette mark").first().waitFor();
  await check("palette-found");
  await page.locator("#palette input").fill("zzz");
  await page.locator(".palette-empty").waitFor();
  await check("palette-empty");
  await page.locator("#palette input").fill("");
  await page.locator("#palette-list [role=option]").last().click();
  await page.locator("#shortcuts-dialog").waitFor();
  await check("shortcuts");
});

states("what leaves the page and comes back", async ({ open, language, phone }) => {
  const fixture = await open();
  const { page, url, check } = fixture;
  const texts = TEXTS[language];
  await page.goto(url);
  await page.locator("#temporary").click();
  await page.locator("#temporary-note").waitFor();
  await check("temporary");
  await page.locator("#temporary").click();
  const id = await converse(fixture, texts.question, texts.answer.replace(/ ?\[\d\]/g, ""));
  const choose = async (item) => {
    await page.locator("#conversation-actions button").click();
    await page.locator(".menu-item").nth(item).click();
    await page.locator("dialog[open]").waitFor();
  };
  const close = async () => {
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  };
  await choose(2);
  await page.locator(".shares li").waitFor();
  await check("share");
  await page.locator("#share-dialog .primary").click();
  await page.locator(".share-link").waitFor();
  await check("shared-link");
  await close();
  await choose(3);
  await check("export");
  await close();
  await openSettings(page, phone);
  await page.locator("#settings-dialog section button").filter({ hasText: /^(Import…|导入…)$/ }).click();
  await page.locator("#import-file").waitFor();
  await check("import");
  const file = JSON.stringify([{ title: texts.story, mapping: 7 }]);
  await page.locator("#import-file").setInputFiles({ name: "conversations.json", mimeType: "application/json", buffer: Buffer.from(file) });
  await page.locator("#import-dialog .primary").click();
  await page.locator(".import-result li").waitFor();
  await check("imported");

  const response = await fetch(`${url}/api/conversations/${id}/shares`, { method: "POST", headers: json, body: "{}" });
  await page.goto(`${url}/share/${(await response.json()).id}`);
  await page.locator("#shared .answer").waitFor();
  await check("shared-copy");
  await page.goto(`${url}/share/01ABSENT`);
  await page.locator("#shared .load-error").waitFor();
  await check("shared-gone");
});
