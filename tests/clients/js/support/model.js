// A scripted model endpoint with OpenAI's wire format: the user message defines the replies.
//
// A message of JSON is the script: a list of replies. What the product adds to the message, below a blank line, is ignored. The first replies to the message, the next ones to the results of
// tool calls. A reply is a list of steps. The messages of the examples in `docs/clients` have fixed scripts, below.
//
//   "text"                    sends a text delta
//   {think}                   sends a reasoning delta
//   {call: [name, arguments]} calls a tool: natively if the request has tools, else as text
//   {hold: key}               holds the reply until the request `/release/KEY`; `/held/KEY` responds once the reply is
//                             held, `/disconnected/KEY` once the client has closed the connection
//   {repeat: [text, times]}   sends the delta repeatedly
//   {count: key}              sends how often a reply has reached this step of KEY
//   {finish: reason}          sets the finish reason
//   {cut: true}               closes the connection in the middle of the reply
//   {fail: status}            responds with an error status; only as the first step

import { once } from "node:events";
import { createServer } from "node:http";

const weather = { call: ["get_weather", { city: "Paris" }] };
const search = { call: ["search_web", { query: "What is Lambda Chat?" }] };
const EXAMPLES = {
  "Say hello.": [["Hello", "!"]],
  "How warm is it in Paris?": [[weather], ["It is 21 °C", " in Paris."]],
  "What is Lambda Chat?": [[search], ["A chat backend", " that uses tools [1]."]],
};

/** Starts the endpoint on a free loopback port. */
export async function startModel() {
  const gates = new Map();
  const gate = (key) => {
    if (!gates.has(key)) gates.set(key, { release: latch(), held: latch(), disconnected: latch() });
    return gates.get(key);
  };
  const counts = new Map();
  const count = (key) => counts.set(key, (counts.get(key) ?? 0) + 1).get(key);
  const server = createServer((incoming, outgoing) => serve(incoming, outgoing, { gate, count }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

function latch() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

async function serve(incoming, outgoing, memory) {
  const { gate } = memory;
  const [, verb, key] = incoming.url.split("/");
  if (verb === "release") {
    gate(key).release.open();
    return void outgoing.end();
  }
  if (verb === "disconnected" || verb === "held") {
    await gate(key)[verb].opened;
    return void outgoing.end();
  }
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  const body = JSON.parse(text);
  await new Reply(body, outgoing, memory).play(nextSteps(body.messages));
}

/** The steps of the next reply. */
function nextSteps(messages) {
  const isUserMessage = ({ role, content }) => role === "user" && !/<(tool_result|search_results)/.test(content);
  const last = messages.findLastIndex(isUserMessage);
  const { content } = messages[last];
  const text = typeof content === "string" ? content : content.find(({ type }) => type === "text").text;
  const round = messages.slice(last).filter(({ role }) => role === "assistant").length;
  const [script] = text.split("\n\n");
  const rounds = script.startsWith("[") ? JSON.parse(script) : (EXAMPLES[text] ?? [[`You said: ${text}`]]);
  return rounds[round] ?? [`Nothing was left to say after round ${round}.`];
}

class Reply {
  #body;
  #outgoing;
  #memory;
  #calls = 0;
  #reason = "stop";

  constructor(body, outgoing, memory) {
    this.#body = body;
    this.#outgoing = outgoing;
    this.#memory = memory;
  }

  async play(steps) {
    if (steps[0]?.fail) return this.#fail(steps[0].fail);
    for (const step of steps) {
      if (step.cut) return void this.#outgoing.write("\n", () => this.#outgoing.destroy());
      if (step.hold) await this.#hold(this.#memory.gate(step.hold));
      else await this.#step(step);
    }
    this.#delta({}, this.#reason);
    const usage = { prompt_tokens: 111, completion_tokens: 7, total_tokens: 118 };
    this.#chunk({ choices: [], usage });
    this.#outgoing.end("data: [DONE]\n\n");
  }

  async #step(step) {
    if (typeof step === "string") this.#delta({ content: step });
    else if (step.think) this.#delta({ reasoning_content: step.think });
    else if (step.call) this.#call(...step.call);
    else if (step.count) this.#delta({ content: `${this.#memory.count(step.count)}` });
    else if (step.finish) this.#reason = step.finish;
    else for (let n = 0; n < step.repeat[1]; n += 1) this.#delta({ content: step.repeat[0] });
  }

  #call(name, args) {
    if (!this.#body.tools) {
      return this.#delta({ content: `<tool_call>${JSON.stringify({ tool: name, ...args })}</tool_call>` });
    }
    const index = this.#calls++;
    const sendDelta = (call) => this.#delta({ tool_calls: [{ index, ...call }] });
    const text = JSON.stringify(args);
    sendDelta({ id: `call_${this.#body.messages.length}_${index}`, type: "function", function: { name, arguments: "" } });
    sendDelta({ function: { arguments: text.slice(0, 5) } });
    sendDelta({ function: { arguments: text.slice(5) } });
    this.#reason = "tool_calls";
  }

  async #hold({ release, held, disconnected }) {
    held.open();
    const closed = new Promise((resolve) => this.#outgoing.on("close", resolve)).then(disconnected.open);
    await Promise.race([release.opened, closed]);
  }

  #fail(status) {
    this.#outgoing.writeHead(status, { "content-type": "application/json", "retry-after": "600" });
    this.#outgoing.end(JSON.stringify({ error: { message: "The script says so.", type: "x", code: null } }));
  }

  #delta(delta, finish_reason = null) {
    this.#chunk({ choices: [{ index: 0, delta, finish_reason }] });
  }

  #chunk(rest) {
    if (!this.#outgoing.headersSent) this.#outgoing.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: this.#body.model, ...rest };
    this.#outgoing.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}
