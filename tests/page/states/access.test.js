// The demo and its setup guide, the ways to sign in, and a passage of a document, in every state.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { openIdentityProvider, settingsFor } from "../support/identity.js";
import { ended, send, states } from "../support/states.js";
import { TEXTS } from "./texts.js";

const NO_MODEL = { OPENAI_BASE_URL: "", OPENAI_MODEL: "", OPENAI_API_KEY: "", TAVILY_BASE_URL: "", TAVILY_API_KEY: "" };

states("the demo and the setup guide", async ({ open }) => {
  const { page, url, check } = await open({ settings: NO_MODEL });
  await page.goto(url);
  await page.locator("#demo").waitFor();
  await check("demo");
  await page.locator("#demo-more").click();
  const guide = page.locator("#setup-dialog");
  await guide.waitFor();
  await guide.locator("select").last().selectOption({ index: 1 });
  await check("setup");
  await guide.locator("select").last().selectOption({ index: 0 });
  await guide.locator(".model-check button").click();
  await guide.locator(".check-results li").waitFor();
  await check("setup-checked");
});

states("the demo's answer", async ({ open }) => {
  const { page, url, check } = await open({ settings: NO_MODEL });
  await page.goto(url);
  await page.locator("#demo").waitFor();
  await page.locator(".example").first().click();
  await ended(page);
  await page.locator(".answer .sources-toggle").waitFor();
  await check("demo-answer");
});

states("the sign-in", async ({ t, open }) => {
  const identity = await openIdentityProvider();
  t.after(identity.close);
  const { page, url, check } = await open({ settings: settingsFor(identity.issuer) });
  identity.register(url);
  await page.goto(url);
  await page.locator("#sign-in-dialog").waitFor();
  await check("sign-in");
  await page.goto(`${url}/?code=stolen&state=foreign`);
  await page.locator("#sign-in-dialog .field-error").getByText(/./).waitFor();
  await check("sign-in-refused");
});

states("the prompt for a key", async ({ open }) => {
  const { page, url, check } = await open();
  const error = { code: "unauthorized", message: "A valid access key is required.", retryable: false, requestId: "r" };
  await page.route("**/api/**", (route) => route.fulfill({ status: 401, json: { error } }));
  await page.goto(url);
  await page.locator("#key-dialog").waitFor();
  await check("key");
  await page.locator("#key-dialog input[type=password]").fill("wrong-key");
  await page.keyboard.press("Enter");
  await page.locator("#key-dialog .field-error").getByText(/./).waitFor();
  await check("key-rejected");
});

states("a passage of a document", async ({ t, open, language }) => {
  const folder = await mkdtemp(path.join(tmpdir(), "documents-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, "contracts"));
  const clause = language === "zh" ? (n) => `第${n}条　承租人应当妥善使用房屋，并按时支付各项费用。` : (n) => `Clause ${n}. The tenant uses the flat with care and pays all charges in time.`;
  await writeFile(path.join(folder, "contracts", "lease.md"), Array.from({ length: 40 }, (_, n) => `${clause(n + 1)}\n`).join(""));
  const { page, url, model, check } = await open({ settings: { DOCUMENTS_DIR: folder } });
  await page.route("**/api/chat", (route) => route.continue({ postData: JSON.stringify({ message: TEXTS[language].document, agentId: "documents" }) }));
  await page.goto(url);
  await send(page, TEXTS[language].document);
  const first = await model.next();
  first.sendText('<tool_call>{"tool":"grep_search","pattern":"12"}</tool_call>');
  first.end();
  const reply = await model.next();
  reply.sendText(TEXTS[language].passage);
  reply.end();
  await ended(page);
  await check("documents");
  await page.locator(".passage-link").click();
  await page.locator("#passage-dialog mark").first().waitFor();
  await check("passage");
});
