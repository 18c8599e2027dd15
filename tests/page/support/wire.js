// The other side of the wire: a model endpoint and a search endpoint that answer only when a test says so.

import { once } from "node:events";
import { createServer } from "node:http";
import net from "node:net";

/** An HTTP server on loopback that hands each request to whoever waits for one. */
class Gate {
  #server = createServer((incoming, outgoing) => this.#take(incoming, outgoing));
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

  async #take(incoming, outgoing) {
    let text = "";
    for await (const piece of incoming.setEncoding("utf8")) text += piece;
    const exchange = this.#wrap(text === "" ? null : JSON.parse(text), outgoing);
    const waiting = this.#waiting.shift();
    if (waiting) waiting(exchange);
    else this.#arrived.push(exchange);
  }
}

/** One call of the model: nothing leaves before `say` or `refuse`. */
class ModelCall {
  #outgoing;
  /** Resolves when the server has let the connection go. */
  gone;

  constructor(body, outgoing) {
    this.body = body;
    this.#outgoing = outgoing;
    this.gone = once(outgoing, "close");
  }

  /** Answers with a status and nothing else. */
  refuse(status) {
    this.#outgoing.writeHead(status, { "content-type": "application/json" });
    this.#outgoing.end(JSON.stringify({ error: { message: "no" } }));
  }

  /** Sends a piece of text, as one chunk. */
  say(content) {
    this.#chunk({ delta: { content }, finish_reason: null });
  }

  /** Sends a piece of reasoning. */
  think(text) {
    this.#chunk({ delta: { reasoning_content: text }, finish_reason: null });
  }

  /** Sends a call of the search, as text. */
  search(query) {
    this.say(`<tool_call>${JSON.stringify({ tool: "search_web", query })}</tool_call>`);
    this.end();
  }

  /** Ends the reply. */
  end(reason = "stop") {
    this.#chunk({ delta: {}, finish_reason: reason });
    this.#outgoing.end("data: [DONE]\n\n");
  }

  /** Breaks the connection. */
  cut() {
    this.#outgoing.destroy();
  }

  #chunk(choice) {
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] };
    this.#outgoing.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}

/** One call of the search. */
class SearchCall {
  #outgoing;

  constructor(body, outgoing) {
    this.body = body;
    this.#outgoing = outgoing;
  }

  /** Answers with as many results; the first ones may be given. */
  answer(count, given = []) {
    const made = Array.from({ length: count }, (_, n) => ({
      title: `Result ${n + 1}`,
      url: `https://site${n + 1}.example/page`,
      content: `What page ${n + 1} says.`,
      score: 0.9,
    }));
    this.#send(200, {
      query: this.body.query,
      answer: "In short.",
      results: made.map((result, n) => ({ ...result, ...given[n] })),
    });
  }

  /** Answers with a status and nothing else. */
  refuse(status) {
    this.#send(status, { detail: { error: "no" } });
  }

  #send(status, body) {
    this.#outgoing.writeHead(status, { "content-type": "application/json" });
    this.#outgoing.end(JSON.stringify(body));
  }
}

/** One call of a tool that is defined as a row: what it says comes as it is said. */
class ToolCall {
  #outgoing;

  constructor(outgoing) {
    this.#outgoing = outgoing;
  }

  /** Sends a piece of the result. */
  say(text) {
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, { "content-type": "text/plain" });
    this.#outgoing.write(text);
  }

  /** Ends the result. */
  end() {
    this.#outgoing.end();
  }
}

/** The host of a tool. */
export const openTool = () => Gate.open((_, outgoing) => new ToolCall(outgoing));

/** A model endpoint of the OpenAI wire. */
export const openModel = () => Gate.open((body, outgoing) => new ModelCall(body, outgoing));

/** A search endpoint of Tavily's wire. */
export const openSearch = () => Gate.open((body, outgoing) => new SearchCall(body, outgoing));

/** A way to the server that can be cut: every connection through it breaks at once. */
export async function openCable(target) {
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
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut,
    close: () => {
      server.close();
      cut();
    },
  };
}
