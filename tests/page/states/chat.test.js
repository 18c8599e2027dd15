// A conversation in every state: from the empty page to an answer, its ends, the list, and what is lost or missing.

import { ended, openSettings, send, states } from "../support/states.js";
import { MODELS, TEXTS } from "./texts.js";

const answer = (page) => page.locator(".answer").last();

states("an answer with a search", async ({ open, language }) => {
  const { page, url, model, search, check } = await open({ settings: { MODELS } });
  const texts = TEXTS[language];
  await page.goto(url);
  await page.locator(".menu-button").waitFor();
  await check("empty");
  await page.locator(".menu-button").click();
  await page.locator(".menu-panel").waitFor();
  await check("picker");
  await page.keyboard.press("Escape");

  await send(page, texts.question);
  const first = await model.next();
  await answer(page).locator(".status").getByText(/./).waitFor();
  await check("waiting");
  first.sendReasoning(texts.thinking);
  await answer(page).locator(".thinking summary").click();
  await answer(page).locator(".reasoning").getByText(texts.thinking.slice(-12)).waitFor();
  await check("thinking");
  first.sendText(`${texts.before}\n`);
  first.callSearch(texts.query);
  await answer(page).locator(".step.running").waitFor();
  await check("searching");
  (await search.next()).respond(5, texts.sources.map(([title, url, content]) => ({ title, url, content })));
  const reply = await model.next();
  reply.sendText(texts.answer);
  reply.end();
  await ended(page);
  await answer(page).locator(".thinking summary").click();
  await check("answer");
  await answer(page).locator(".sources-toggle").click();
  await answer(page).locator(".message-actions button").last().click();
  await answer(page).locator(".answer-more").scrollIntoViewIfNeeded();
  await check("answer-more");
  await answer(page).locator(".sources-toggle").click();
  const openCitation = async () => {
    await page.keyboard.press("Escape");
    await page.locator("#message").focus();
    await answer(page).locator(".step").focus();
    await page.keyboard.press("Tab");
    await page.locator(".citation-card").waitFor();
  };
  await check("citation", { prepare: openCitation });
  await page.keyboard.press("Escape");
  await answer(page).locator(".step").click();
  await answer(page).locator(".step-list a").nth(4).waitFor();
  await check("steps");
  await page.reload();
  await ended(page);
  await answer(page).locator(".step").click();
  await answer(page).locator(".step-list a").nth(4).waitFor();
  await check("reloaded");
});

states("the parts of Markdown", async ({ open, language }) => {
  const { page, url, model, check } = await open();
  const texts = TEXTS[language];
  await page.goto(url);
  await send(page, texts.code);
  const reply = await model.next();
  reply.sendText(texts.rich);
  reply.end();
  await ended(page);
  await answer(page).locator(".prose math mfrac").waitFor();
  await answer(page).locator(".hljs-keyword").first().waitFor();
  await check("markdown-end");
  await page.locator("#scroller").evaluate((node) => node.scrollTo(0, 0));
  await check("markdown");
});

states("the ends of an answer", async ({ open, language, phone }) => {
  const { page, url, model, check, context } = await open();
  const texts = TEXTS[language];
  await page.goto(url);
  await send(page, texts.story);
  const reply = await model.next();
  reply.sendText(texts.begin);
  await answer(page).locator(".prose").getByText(texts.begin).waitFor();
  await check("writing");
  await page.locator("#send").click();
  await answer(page).locator(".note").waitFor();
  await check("stopped");
  await send(page, texts.wrong);
  (await model.next()).fail(401);
  await answer(page).locator(".note.failed").waitFor();
  await check("failed");

  if (phone) await page.locator("#toggle-list").click();
  await page.locator("#conversations li a").waitFor();
  await check("list");
  const actions = async (item) => {
    await page.locator("#conversations li").hover();
    await page.locator("#conversations li .icon-button").click();
    await page.locator(".menu-item").nth(item).waitFor();
  };
  await actions(0);
  await check("actions");
  await page.locator(".menu-item").nth(0).click();
  await page.locator("dialog[open]").waitFor();
  await check("rename");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await actions(1);
  await page.locator(".menu-item").last().click();
  await page.locator("dialog[open]").waitFor();
  await check("delete");
  await page.keyboard.press("Escape");
  if (phone) await page.locator("#close-list").click();

  await context.setOffline(true);
  await send(page, texts.question);
  await page.locator("#toast").waitFor();
  await check("offline");
  await context.setOffline(false);
  await page.goto(`${url}/#/c/01ABSENT`);
  await page.locator("#messages .load-error").waitFor();
  await check("gone");
});

states("a budget and the settings", async ({ open, language, phone }) => {
  const settings = { USER_DAILY_TOKENS: "1", USER_DAILY_SEARCHES: "50", MODELS };
  const { page, url, model, check } = await open({ settings });
  const texts = TEXTS[language];
  await page.goto(url);
  await send(page, texts.story);
  const reply = await model.next();
  reply.sendText(texts.begin);
  reply.end();
  await ended(page);
  await send(page, texts.question);
  await page.locator("#toast").waitFor();
  await check("budget");
  await openSettings(page, phone);
  await page.locator("#settings-dialog meter").first().waitFor();
  await check("settings");
  for (const section of ["settings-usage", "settings-administration"]) {
    await page.locator(`#${section}`).scrollIntoViewIfNeeded();
    await check(section);
  }
  const erase = page.locator("#settings-dialog .button.risky");
  await erase.scrollIntoViewIfNeeded();
  await check("settings-data");
  await erase.click();
  await page.locator("#erase-dialog").waitFor();
  await check("erase");
  await page.locator("#erase-dialog input").fill("x");
  await page.keyboard.press("Enter");
  await page.locator("#erase-dialog .field-error").getByText(/./).waitFor();
  await check("erase-rejected");
});

states("branches, a deletion and feedback", async ({ open, language }) => {
  const { page, url, model, check } = await open();
  const texts = TEXTS[language];
  await page.goto(url);
  await send(page, texts.question);
  const reply = await model.next();
  reply.sendText(texts.answer.replace(/ ?\[\d\]/g, ""));
  reply.end("length");
  await ended(page);
  await answer(page).locator(".continue").waitFor();
  await check("cut");
  await page.locator(".turn.user").hover();
  await page.locator(".turn.user .message-actions button").nth(1).click();
  await page.locator(".editor textarea").waitFor();
  await check("editing");
  await page.locator(".editor textarea").fill(texts.wrong);
  await page.locator(".editor [type=submit]").click();
  const other = await model.next();
  other.sendText(texts.begin);
  other.end();
  await ended(page);
  await page.locator(".turn.user .versions").waitFor();
  await check("versions");
  await page.locator(".turn.user").hover();
  await page.locator(".turn.user .message-actions button").nth(2).click();
  await page.locator("#delete-message-dialog").waitFor();
  await check("delete-message");
  await page.keyboard.press("Escape");
  await page.locator("#delete-message-dialog").waitFor({ state: "detached" });
  await answer(page).locator(".message-actions button").nth(3).click();
  await page.locator("#reason-dialog").waitFor();
  await check("reason");
});
