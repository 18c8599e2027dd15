// Serves the built page from its folder instead of the server's binary, which a change of the page would have to build
// again. Set PAGE_FROM_DISK=1 for it.

import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

const DIST = new URL("../../../functions/chat/page/dist/", import.meta.url);

const read = async (name) => gunzipSync(await readFile(new URL(`${name}.gz`, DIST)));

const TYPES = { js: "text/javascript; charset=utf-8", woff2: "font/woff2", png: "image/png", webmanifest: "application/manifest+json" };

/** The document, and the headers with which the server sends it. */
export async function readDocument(dist = DIST) {
  const table = await readFile(new URL("files.rs", dist), "utf8");
  const policy = /CONTENT_SECURITY_POLICY: &str = "(.*)";/.exec(table)[1];
  const body = gunzipSync(await readFile(new URL("index.html.gz", dist))).toString();
  return { body, headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy } };
}

/** Answers a context's requests for the document and its files. */
export async function servePageFromDisk(context) {
  const document = await readDocument();
  await context.route(/^http:\/\/127\.0\.0\.1:\d+\/(share\/[\w-]+)?(\?.*)?(#.*)?$/, async (route) => {
    // The server's settings decide to which origins the page may connect.
    const sent = (await route.fetch()).headers()["content-security-policy"] ?? "";
    const connections = /connect-src [^;]*/.exec(sent)?.[0] ?? "connect-src 'self'";
    const policy = document.headers["content-security-policy"].replace("connect-src 'self'", connections);
    await route.fulfill({ body: document.body, headers: { ...document.headers, "content-security-policy": policy } });
  });
  await context.route("**/assets/*", async (route) => {
    const name = new URL(route.request().url()).pathname.split("/").pop();
    const body = await read(name).catch(() => null);
    const contentType = TYPES[name.split(".").pop()];
    if (body === null) await route.continue();
    else await route.fulfill({ body, contentType });
  });
}
