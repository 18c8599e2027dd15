// Passes requests on to a server, and can reject each body without its SHA-256 in `x-amz-content-sha256`, as Lambda does for CloudFront.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";

/** Starts it on a free loopback port. */
export async function startHashedFront(target, isHashRequired) {
  const server = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await incoming.toArray());
    const hash = createHash("sha256").update(body).digest("hex");
    if (isHashRequired && incoming.headers["x-amz-content-sha256"] !== hash) return void outgoing.writeHead(403).end();
    const { method, headers } = incoming;
    const passed = request(new URL(incoming.url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    passed.end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}
