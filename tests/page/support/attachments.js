// The routes for files of messages as the contract has them, answered in the browser.

import { once } from "node:events";
import { createServer } from "node:http";

/** What `GET /api/attachments/{id}/text` answers for a PDF of three pages. */
export const PAGES = ["The first page.", "The rent is 900 euros.", "The last page."].join("\f");

/** Answers the routes of a page; resolves to what arrived. `images` is whether the model takes pictures. */
export async function serveAttachments(page, { images = true } = {}) {
  const stub = { files: new Map(), uploads: [], deleted: [], chats: [], formats: [], fail: null, gate: null, address: null };
  const json = (route, status, body) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) });
  const add = (name, type, body, id = `a${stub.files.size + 1}`) => {
    const kind = type.startsWith("image/") && !type.includes("svg") ? "image" : "text";
    const file = { id, name, type, bytes: body.length, kind };
    stub.files.set(id, { ...file, body });
    return { ...file, width: null, height: null, pages: null, characters: null, truncated: false };
  };
  await page.route("**/api/models", async (route) => {
    const response = await route.fetch();
    const { models } = await response.json();
    await route.fulfill({ response, json: { models: models.map((model) => ({ ...model, images })), attachments: true } });
  });
  await page.route(/\/api\/attachments/, async (route) => {
    const request = route.request();
    const url = new URL(request.url());
    const [, id, part] = /\/api\/attachments(?:\/([^/]+))?(?:\/(\w+))?$/.exec(url.pathname);
    const headers = await request.allHeaders();
    if (request.method() === "DELETE") {
      stub.deleted.push(id);
      return route.fulfill({ status: 204 });
    }
    if (request.method() === "GET") {
      const file = stub.files.get(id);
      if (!file) return json(route, 404, { error: { code: "not_found", message: "no" } });
      if (part === "text") return route.fulfill({ contentType: "text/plain; charset=utf-8", body: file.type === "application/pdf" ? PAGES : file.body });
      return route.fulfill({ contentType: file.type, body: file.body });
    }
    stub.uploads.push({ path: url.pathname, headers });
    await stub.gate;
    if (stub.fail) return json(route, stub.fail.status, { error: { code: stub.fail.code, message: "The server’s reason." } });
    if (id === "uploads") {
      const announced = request.postDataJSON();
      stub.formats.push(announced);
      return json(route, 201, { id: "big", url: stub.address ?? "/api/attachments/big/content", fields: { key: "big" } });
    }
    if (part === "content") return route.fulfill({ status: 204 });
    if (part === "complete") return json(route, 200, add(stub.formats.at(-1).name, stub.formats.at(-1).type, Buffer.from("large"), "big"));
    return json(route, 201, add(url.searchParams.get("name"), headers["content-type"], request.postDataBuffer())).catch(() => {});
  });
  await page.route("**/api/chat", async (route) => {
    const { attachments, ...body } = route.request().postDataJSON();
    stub.chats.push({ text: body.message, attachments });
    await route.continue({ postData: JSON.stringify(body) });
  });
  await page.route(/\/api\/conversations\/\w+\?/, async (route) => {
    const response = await route.fetch();
    if (!response.ok()) return route.fulfill({ response });
    const page = await response.json();
    const filesOf = ({ content }) => (stub.chats.findLast(({ text }) => text === content)?.attachments ?? []).map((id) => stub.files.get(id));
    const messages = page.messages.map((message) => ({ ...message, attachments: filesOf(message).map(({ body, ...file }) => file) }));
    await route.fulfill({ response, json: { ...page, messages } });
  });
  return stub;
}

/** A bucket on loopback that takes forms of any origin. */
export async function openBucket(t) {
  const requests = [];
  const server = createServer(async (incoming, outgoing) => {
    let text = "";
    for await (const chunk of incoming.setEncoding("latin1")) text += chunk;
    requests.push({ headers: incoming.headers, text });
    outgoing.writeHead(204, { "access-control-allow-origin": "*" }).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}/`, requests };
}

/** A file for the browser's choice of files. */
export const file = (name, mimeType, content) => ({ name, mimeType, buffer: Buffer.isBuffer(content) ? content : Buffer.from(content) });

/** A picture that the browser draws: noise or, if `clear`, a transparent ground with a disc. */
export async function picture(page, { name, type = "image/png", width, height, clear = false }) {
  const url = await page.evaluate(async ({ type, width, height, clear }) => {
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d");
    if (clear) context.arc(width / 2, height / 2, height / 3, 0, 7);
    else context.rect(0, 0, width, height);
    context.fillStyle = "#2a7";
    context.fill();
    const pixels = context.getImageData(0, 0, width, height);
    let state = 7;
    for (let at = 0; !clear && at < pixels.data.length / 2; at += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      if (at % 4 < 3) pixels.data[at] = (state >> 16) & 255;
    }
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL(type, 0.95);
  }, { type, width, height, clear });
  return file(name, type, Buffer.from(url.split(",")[1], "base64"));
}

/** Chooses files in the browser's dialog. */
export const chooseFiles = (page, ...files) => page.locator("#file-choice").setInputFiles(files);

/** Drops files on the page, or pastes them; `size` is a number of zeros instead of a content. */
export async function transfer(page, type, files) {
  const contents = files.map(({ name, mimeType, buffer, size = 0 }) => ({ name, mimeType, size, base64: buffer?.toString("base64") ?? "" }));
  await page.evaluate(({ type, contents }) => {
    const data = new DataTransfer();
    for (const { name, mimeType, size, base64 } of contents) {
      data.items.add(new File([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)), new Uint8Array(size)], name, { type: mimeType }));
    }
    const event = type === "paste"
      ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
      : new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
    document.getElementById("messages").dispatchEvent(event);
  }, { type, contents });
}
