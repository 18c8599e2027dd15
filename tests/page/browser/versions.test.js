// One response: what a visit costs, and two deployed versions that answer at random.

import assert from "node:assert/strict";
import { test } from "node:test";

import { exchange, lastAnswer, messageBox, prose, sendMessage, setUp } from "../support/fixture.js";

/** The requests of a visit as path, status and bytes on the wire. */
async function watchTraffic(page, context) {
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  const [paths, requests] = [new Map(), []];
  session.on("Network.responseReceived", ({ requestId, response }) => paths.set(requestId, response));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const response = paths.get(requestId);
    if (response?.url.startsWith("http")) requests.push({ path: new URL(response.url).pathname, bytes: encodedDataLength, cached: response.fromDiskCache });
  });
  return requests;
}

test("a visit is five requests and 100 kB, a reload four", async (t) => {
  const { page, url, context } = await setUp(t, { fromServer: true });
  const requests = await watchTraffic(page, context);
  await page.goto(url);
  await page.getByText("Your conversations will appear here.").waitFor();
  await messageBox(page).fill("Ready");
  // A request that ends later would count to the next visit.
  await page.waitForLoadState("networkidle");
  const bytes = requests.reduce((sum, request) => sum + request.bytes, 0);
  console.log(`cold: ${requests.length} requests, ${bytes} bytes`);
  assert.ok(requests.length <= 5 && bytes <= 100_000, JSON.stringify(requests));
  requests.length = 0;
  await page.reload();
  await page.getByText("Your conversations will appear here.").waitFor();
  await page.waitForLoadState("networkidle");
  const again = requests.reduce((sum, request) => sum + request.bytes, 0);
  console.log(`cached: ${requests.length} requests, ${again} bytes`);
  assert.ok(requests.length <= 4 && again <= 10_000, JSON.stringify(requests));
});

test("the document is the same in every encoding", async (t) => {
  const { url } = await setUp(t, { fromServer: true });
  const load = async (coding) => {
    const response = await fetch(url, { headers: { "accept-encoding": coding } });
    return { coding: response.headers.get("content-encoding"), text: await response.text() };
  };
  const [plain, gzip] = await Promise.all(["identity", "gzip"].map(load));
  assert.deepEqual([plain.coding, gzip.coding], [null, "gzip"]);
  assert.equal(gzip.text, plain.text);
});

test("two versions at random never give a blank page", async (t) => {
  const { page, url, model } = await setUp(t);
  let state = 7;
  const other = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % 2 === 0;
  // The other version has no file of these names, and its document has other ones.
  await page.route("**/assets/*", (route) => (other() ? route.fulfill({ status: 404, body: "{}" }) : route.fallback()));
  await page.route(/:\d+\/$/, async (route) => {
    if (!other()) return route.fallback();
    const response = await route.fetch();
    const body = (await response.text()).replaceAll(/assets\/(maths|code)-[0-9a-f]{12}/g, "assets/$1-000000000000");
    // Its policy has the hashes of its own script; this test does not compute them.
    const headers = { ...response.headers(), "content-security-policy": "" };
    return route.fulfill({ response, body, headers });
  });
  const text = "The area is $x^2$.\n\n```js\nlet a = 1;\n```";
  for (let visit = 0; visit < 6; visit += 1) {
    await page.goto("about:blank");
    await page.goto(url);
    await exchange({ page, model }, `Visit ${visit}`, text);
    assert.match((await prose(page).textContent()).replaceAll(/\s+/g, " "), /The area is x(\^?)2\..*let a = 1;/);
    assert.equal(await lastAnswer(page).locator(".note").count(), 0);
  }
  await sendMessage(page, "Still there?");
  (await model.next()).end();
});
