// The component of docs/clients/ai-sdk.md with React and `useChat`: left and come back to, stopped, answered again, refused.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";

import { examples } from "./support/examples.js";
import { component, leave, open } from "./support/page.js";
import { held, left, release, words } from "./support/script.js";

const [{ code }] = examples("ai-sdk.md").filter(({ language }) => language === "tsx");
const Chat = await component(code, "chat");
after(leave);

test("a page that comes back takes up the answer that still runs", async () => {
  const [id, key] = [randomUUID(), randomUUID()];
  const first = open(Chat, { id });
  await first.ask(words(["One", { hold: key }, " two."]));
  await held(key);
  await first.reads("One");
  first.close();
  const back = open(Chat, { id });
  await back.reads("One");
  await release(key);
  await back.idle();
  assert.equal(back.text(), "One two.");
  back.close();
});

test("the button ends the turn, and another answer takes the place of the last one", async () => {
  const key = randomUUID();
  const page = open(Chat, { id: randomUUID() });
  await page.ask(words(["One", { hold: key }]));
  await held(key);
  await page.reads("One");
  await page.click("Stop");
  await left(key);
  await page.idle();
  await page.ask(words(["Answer ", { count: key }, "."]));
  await page.reads("Answer 1.");
  await page.idle();
  const before = page.text();
  await page.click("Again");
  await page.reads("Answer 2.");
  await page.idle();
  assert.equal(page.text(), before.replace("Answer 1.", "Answer 2."));
  page.close();
});

test("what is refused is said, and the chat goes on", async () => {
  const page = open(Chat, { id: randomUUID() });
  await page.ask("x".repeat(32_001));
  await page.alerts("32000");
  await page.ask("Say hello.");
  await page.reads("Hello!");
  page.close();
});
