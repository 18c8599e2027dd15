// The component of docs/clients/ai-sdk.md with React and `useChat`: resume, stop, regenerate, rejection.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";

import { examples } from "./support/examples.js";
import { closeWindow, component, mount } from "./support/page.js";
import { release, script, waitForDisconnect, waitUntilHeld } from "./support/script.js";

const [{ code }] = examples("docs/clients/ai-sdk.md").filter(({ language }) => language === "tsx");
const Chat = await component(code, "chat");
after(closeWindow);

test("a reopened page resumes the running answer", async () => {
  const [id, key] = [randomUUID(), randomUUID()];
  const first = mount(Chat, { id });
  await first.send(script(["One", { hold: key }, " two."]));
  await waitUntilHeld(key);
  await first.waitForMessage("One");
  first.close();
  const back = mount(Chat, { id });
  await back.waitForMessage("One");
  await release(key);
  await back.waitUntilIdle();
  assert.equal(back.text(), "One two.");
  back.close();
});

test("the page stops and regenerates an answer", async () => {
  const key = randomUUID();
  const page = mount(Chat, { id: randomUUID() });
  await page.send(script(["One", { hold: key }]));
  await waitUntilHeld(key);
  await page.waitForMessage("One");
  await page.click("Stop");
  await waitForDisconnect(key);
  await page.waitUntilIdle();
  await page.send(script(["Answer ", { count: key }, "."]));
  await page.waitForMessage("Answer 1.");
  await page.waitUntilIdle();
  const before = page.text();
  await page.click("Again");
  await page.waitForMessage("Answer 2.");
  await page.waitUntilIdle();
  assert.equal(page.text(), before.replace("Answer 1.", "Answer 2."));
  page.close();
});

test("a rejection shows an alert and chat continues", async () => {
  const page = mount(Chat, { id: randomUUID() });
  await page.send("x".repeat(32_001));
  await page.waitForAlert("32000");
  await page.send("Say hello.");
  await page.waitForMessage("Hello!");
  page.close();
});
