// The server's upstream endpoints (model, search, tool), which respond on a test's command, and a TCP proxy.

import { once } from "node:events";
import { createServer } from "node:http";
import net from "node:net";

/** An HTTP server on loopback that passes each request to the next `next` call. */
class Gate {
  #server = createServer((incoming, outgoing) => this.#handle(incoming, outgoing));
  #arrived = [];
  #waiting = [];
  #wrap;

  constructor(wrap) {
    this.#wrap = wrap;
  }

  static async open(wrap) {
    const gate = new Gate(wrap);
    gate.#server.listen(0, "127.0.0.1");
    await once(gate.#server, "listening");
    gate.url = `http://127.0.0.1:${gate.#server.address().port}`;
    return gate;
  }

  /** The next request, in the order of arrival. */
  next() {
    const exchange = this.#arrived.shift();
    return exchange
      ? Promise.resolve(exchange)
      : new Promise((resolve) => {
          this.#waiting.push(resolve);
        });
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(incoming, outgoing) {
    let text = "";
    for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
    const exchange = this.#wrap(text === "" ? null : JSON.parse(text), outgoing);
    const waiting = this.#waiting.shift();
    if (waiting) waiting(exchange);
    else this.#arrived.push(exchange);
  }
}

/** One model call; it sends nothing before `sendText`, `sendReasoning` or `fail`. */
class ModelCall {
  #outgoing;
  /** Resolves when the connection closes. */
  closed;

  constructor(body, outgoing) {
    this.body = body;
    this.#outgoing = outgoing;
    this.closed = once(outgoing, "close");
  }

  /** Responds with an error status. */
  fail(status) {
    this.#outgoing.writeHead(status, { "content-type": "application/json" });
    this.#outgoing.end(JSON.stringify({ error: { message: "no" } }));
  }

  /** Sends a text delta as one chunk. */
  sendText(content) {
    this.#chunk({ delta: { content }, finish_reason: null });
  }

  /** Sends a reasoning delta. */
  sendReasoning(text) {
    this.#chunk({ delta: { reasoning_content: text }, finish_reason: null });
  }

  /** Sends a call of the search tool, as text, and ends the reply. */
  callSearch(query) {
    this.sendText(`<tool_call>${JSON.stringify({ tool: "search_web", query })}</tool_call>`);
    this.end();
  }

  /** Ends the reply. */
  end(reason = "stop") {
    this.#chunk({ delta: {}, finish_reason: reason });
    this.#outgoing.end("data: [DONE]\n\n");
  }

  /** Closes the connection in the middle of the reply. */
  disconnect() {
    this.#outgoing.destroy();
  }

  #chunk(choice) {
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] };
    this.#outgoing.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** One search request. */
class SearchCall {
  #outgoing;

  constructor(body, outgoing) {
    this.body = body;
    this.#outgoing = outgoing;
  }

  /** Responds with `count` results; `overrides` replaces fields of the first ones. */
  respond(count, overrides = []) {
    const results = Array.from({ length: count }, (_, n) => ({
      title: `Result ${n + 1}`,
      url: `https://site${n + 1}.example/page`,
      content: `What page ${n + 1} says.`,
      score: 0.9,
    }));
    this.#send(200, {
      query: this.body.query,
      answer: "In short.",
      results: results.map((result, n) => ({ ...result, ...overrides[n] })),
    });
  }

  /** Responds with an error status. */
  fail(status) {
    this.#send(status, { detail: { error: "no" } });
  }

  #send(status, body) {
    this.#outgoing.writeHead(status, { "content-type": "application/json" });
    this.#outgoing.end(JSON.stringify(body));
  }
}

/** One call of a custom tool with a streamed result. */
class ToolCall {
  #outgoing;

  constructor(outgoing) {
    this.#outgoing = outgoing;
  }

  /** Sends a part of the result. */
  sendText(text) {
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, { "content-type": "text/plain" });
    this.#outgoing.write(text);
  }

  /** Ends the result. */
  end() {
    this.#outgoing.end();
  }
}

/** Opens the host of a custom tool. */
export const openTool = () => Gate.open((_, outgoing) => new ToolCall(outgoing));

/** Opens a model endpoint with OpenAI's wire format. */
export const openModel = () => Gate.open((body, outgoing) => new ModelCall(body, outgoing));

/** Opens a search endpoint with Tavily's wire format. */
export const openSearch = () => Gate.open((body, outgoing) => new SearchCall(body, outgoing));

/** Opens a TCP proxy to the server; `disconnect` closes all connections through it. */
export async function openProxy(target) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          near.destroy();
          far.destroy();
          sockets.delete(socket);
        });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const disconnect = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    disconnect,
    close: () => {
      server.close();
      disconnect();
    },
  };
}
