// Files of messages against the server itself: what it takes, stores, reads and refuses.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { chooseFiles, file, picture, transfer } from "../support/attachments.js";
import { exchange, lastAnswer, messageBox, prose, setUp } from "../support/fixture.js";

async function open(t, settings = {}) {
  const fixture = await setUp(t, { settings });
  await fixture.page.goto(fixture.url);
  await fixture.page.getByRole("button", { name: "Attach files" }).waitFor();
  return fixture;
}

const attached = (page) => page.locator(".turn.user").last().locator(".attached");
const uploaded = (page, count) => page.waitForFunction((count) => document.querySelectorAll("#files li").length === count && !document.querySelector("#files progress"), count);

test("files reach the model and are shown after a reload", async (t) => {
  const fixture = await open(t);
  const { page, model } = fixture;
  await chooseFiles(page, file("my notes.md", "text/markdown", "alpha\nbeta\ngamma\n"), await picture(page, { name: "plan.png", width: 300, height: 200 }));
  await uploaded(page, 2);
  await messageBox(page).fill("What is in them?");
  await messageBox(page).press("Enter");
  const reply = await model.next();
  assert.match(JSON.stringify(reply.body.messages), /beta/);
  assert.match(JSON.stringify(reply.body.messages), /data:image\//);
  reply.sendText("Letters: `my notes.md:2`.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".attached img")?.naturalWidth === 300);
  await attached(page).getByRole("button", { name: /^my notes\.md/ }).click();
  await page.getByRole("dialog", { name: "my notes.md" }).getByText("gamma").waitFor();
  await page.keyboard.press("Escape");
  await prose(page).getByRole("button", { name: "my notes.md:2" }).click();
  await page.locator("#passage-dialog mark").getByText("beta", { exact: true }).waitFor();
});

test("large files are sent as a form and others are refused", async (t) => {
  const fixture = await open(t);
  const { page } = fixture;
  await transfer(page, "drop", [{ name: "numbers.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n".repeat(1_200_000)) }]);
  await uploaded(page, 1);
  await page.locator("#files li:not(.failed)").waitFor();
  await chooseFiles(page, file("program.exe", "application/octet-stream", Buffer.from([77, 90, 0, 255, 254, 1, 2, 3])));
  await page.locator("#files .failed").getByText("This type of file isn’t supported.").waitFor();
  await page.getByRole("button", { name: "Remove program.exe" }).click();
  await chooseFiles(page, file("broken.png", "image/png", Buffer.from("\x89PNG\r\n\x1a\nnothing", "latin1")));
  await page.locator("#files .failed").getByText("This file is damaged or can’t be read.").waitFor();
});

test("a model without pictures is named before it is refused", async (t) => {
  const fixture = await open(t, { MODELS: JSON.stringify([{ name: "blind", model: "blind", baseUrl: "http://127.0.0.1:1/v1", images: false }]) });
  const { page } = fixture;
  await page.locator(".menu-button").click();
  await page.getByRole("option", { name: /blind/ }).click();
  await chooseFiles(page, await picture(page, { name: "plan.png", width: 30, height: 20 }));
  await uploaded(page, 1);
  await page.getByText("blind can’t read images. Choose another model, or remove the image.").waitFor();
  await messageBox(page).fill("What is it?");
  await messageBox(page).press("Enter");
  await page.locator("#toast").getByText("This model can’t read an image of this message.").waitFor();
  await uploaded(page, 1);
  assert.equal(await messageBox(page).inputValue(), "What is it?");
});

test("a file of an edited message stays when its chip goes", async (t) => {
  const fixture = await open(t);
  const { page } = fixture;
  await chooseFiles(page, file("my notes.md", "text/markdown", "alpha\n"));
  await uploaded(page, 1);
  await exchange(fixture, "What is it?", "A letter.");
  await page.getByRole("button", { name: "Edit message" }).click();
  await page.getByRole("textbox", { name: "Edit message" }).fill("How many letters?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const reply = await fixture.model.next();
  reply.sendText("One.");
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  await page.reload();
  await attached(page).getByRole("button", { name: /^my notes\.md/ }).click();
  await page.getByRole("dialog", { name: "my notes.md" }).getByText("alpha").waitFor();
});

test("pictures of answers are read through the server, after a click", async (t) => {
  const fixture = await open(t, { ALLOW_PRIVATE_TOOLS: "yes" });
  const { page, model } = fixture;
  const { buffer } = await picture(page, { name: "map.png", width: 300, height: 200 });
  const requests = [];
  const host = createServer((request, response) => {
    requests.push(request.headers["user-agent"] ?? "");
    response.writeHead(request.url === "/map.png" ? 200 : 404, { "content-type": "image/png" }).end(buffer);
  });
  await new Promise((resolve) => host.listen(0, "127.0.0.1", resolve));
  t.after(() => host.close());
  const { port } = host.address();
  await messageBox(page).fill("Show a map");
  await messageBox(page).press("Enter");
  const reply = await model.next();
  reply.sendText(`![Map](http://127.0.0.1:${port}/map.png) and ![gone](http://127.0.0.1:${port}/gone.png)`);
  reply.end();
  await lastAnswer(page).locator(".message-actions").waitFor();
  assert.equal(requests.length, 0, "nothing is loaded by itself");
  await prose(page).getByRole("link", { name: "Map" }).click();
  await page.waitForFunction(() => document.querySelector("#picture-dialog img")?.naturalWidth === 300);
  assert.ok(requests.every((agent) => !agent.includes("Mozilla")), "the browser has not contacted the host");
  await page.keyboard.press("Escape");
  await prose(page).getByRole("link", { name: "gone" }).click();
  await page.locator("#picture-dialog").getByText("This image can’t be loaded here.").waitFor();
  await page.locator("#picture-dialog").getByRole("link", { name: "Open original" }).waitFor();
});
