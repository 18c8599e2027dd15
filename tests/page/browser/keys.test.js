// Authentication: the prompt for a key, a rejected key, and a server without authentication settings.

import assert from "node:assert/strict";
import { test } from "node:test";

import { messageBox, prose, sendMessage, setUp, waitForText } from "../support/fixture.js";

const toast = (page) => page.locator("#toast");

test("f146_ the key lasts for the session", async (t) => {
  const { page, url } = await setUp(t);
  const seen = new Set();
  await page.route("**/api/**", (route) => {
    const key = route.request().headers()["x-api-key"];
    if (key) seen.add(key);
    if (key === "right-key") return route.continue();
    const error = { code: "unauthorized", message: "A valid access key is required.", retryable: false, requestId: "r" };
    return route.fulfill({ status: 401, json: { error } });
  });
  await page.goto(url);
  const dialog = page.getByRole("dialog", { name: "Enter your access key" });
  await dialog.getByLabel("Key").fill("not a key");
  await dialog.getByLabel("Key").press("Enter");
  await dialog.getByText("A key contains only letters, digits and symbols, with no spaces.").waitFor();
  await dialog.getByLabel("Key").fill("wrong-key");
  await dialog.getByLabel("Key").press("Enter");
  await dialog.getByText("That key wasn’t accepted. Check it and try again.").waitFor();
  await dialog.getByLabel("Key").fill("right-key");
  await dialog.getByRole("button", { name: "Use key" }).click();
  await page.getByText("Your conversations will appear here.").waitFor();
  assert.deepEqual([...seen], ["wrong-key", "right-key"]);

  await page.reload();
  await page.getByText("Your conversations will appear here.").waitFor();
  assert.equal(await dialog.isVisible(), false);
  assert.equal(await page.evaluate(() => Object.values(localStorage).join().includes("right-key")), false);
  await messageBox(page).fill("Only mine");
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Forget key" }).click();
  await dialog.waitFor();
  assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage)), []);
  assert.ok(!page.url().includes("key"));

  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("navigation").getByRole("alert").getByText("A valid access key is required.").waitFor();
});

test("a rejected key keeps the message", async (t) => {
  const { page, url, model } = await setUp(t);
  let needed = false;
  await page.route("**/api/**", (route) => {
    if (!needed || route.request().headers()["x-api-key"] === "k") return route.continue();
    return route.fulfill({
      status: 401,
      json: { error: { code: "unauthorized", message: "A valid access key is required.", retryable: false } },
    });
  });
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  needed = true;
  await sendMessage(page, "Hello");
  const dialog = page.getByRole("dialog", { name: "Enter your access key" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await toast(page).getByText("A valid access key is required. Your message is back in the message box.").waitFor();
  assert.equal(await messageBox(page).inputValue(), "Hello");
  await messageBox(page).press("Enter");
  await dialog.getByLabel("Key").fill("k");
  await dialog.getByLabel("Key").press("Enter");
  const reply = await model.next();
  reply.sendText("Hello.");
  reply.end();
  await waitForText(prose(page), "Hello.");
});

test("f147_ missing authentication settings are explained", async (t) => {
  const { page, url } = await setUp(t);
  const error = {
    code: "auth_not_configured",
    message: "Authentication is not configured.",
    retryable: false,
    requestId: "r",
  };
  await page.route("**/api/**", (route) => route.fulfill({ status: 503, json: { error } }));
  await page.goto(url);
  const text = "This server isn’t set up yet. Its operator must set AUTH to api_key or jwt.";
  await page.getByRole("navigation").getByRole("alert").getByText(text).waitFor();
  await toast(page).getByText(text).waitFor();
});
