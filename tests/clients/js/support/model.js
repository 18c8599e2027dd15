// A model endpoint on OpenAI's wire, and nothing but a script: the words of the user say what it answers.
//
// Words that are JSON are the script itself: a list of replies, the first one for the question, the next ones for the
// results of its calls; a reply is a list of steps. The questions of the examples in `docs/clients` have theirs below.
//
//   "text"                    says it
//   {think}                   reasons
//   {call: [name, arguments]} calls a tool: natively where tools were offered so, else written as text
//   {hold: key}               says nothing more until `/release/KEY` is asked for; `/held/KEY` answers once that is so, and
//                             `/left/KEY` once the asker has left
//   {repeat: [text, times]}   says it as often
//   {count: key}              says how many times it has come to this step of KEY
//   {finish: reason}          ends the reply with this reason
//   {cut: true}               breaks the connection
//   {fail: status}            answers with this status, when it is the first step

import { once } from "node:events";
import { createServer } from "node:http";

const weather = { call: ["get_weather", { city: "Paris" }] };
const search = { call: ["search_web", { query: "What is Lambda Chat?" }] };
const EXAMPLES = {
  "Say hello.": [["Hello", "!"]],
  "How warm is it in Paris?": [[weather], ["It is 21 °C", " in Paris."]],
  "What is Lambda Chat?": [[search], ["A chat backend", " that uses tools [1]."]],
};

/** Starts the endpoint on a free port of this machine. */
export async function startModel() {
  const gates = new Map();
  const gate = (key) => {
    if (!gates.has(key)) gates.set(key, { release: latch(), held: latch(), left: latch() });
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
  if (verb === "left" || verb === "held") {
    await gate(key)[verb].opened;
    return void outgoing.end();
  }
  let text = "";
  for await (const piece of incoming.setEncoding("utf8")) text += piece;
  const body = JSON.parse(text);
  await new Reply(body, outgoing, memory).play(script(body.messages));
}

/** The steps that are due. */
function script(messages) {
  const asks = ({ role, content }) => role === "user" && !/<(tool_result|search_results)/.test(content);
  const last = messages.findLastIndex(asks);
  const words = messages[last].content;
  const round = messages.slice(last).filter(({ role }) => role === "assistant").length;
  const rounds = words.startsWith("[") ? JSON.parse(words) : (EXAMPLES[words] ?? [[`You said: ${words}`]]);
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
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
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

  #call(name, given) {
    if (!this.#body.tools) {
      return this.#delta({ content: `<tool_call>${JSON.stringify({ tool: name, ...given })}</tool_call>` });
    }
    const index = this.#calls++;
    const piece = (call) => this.#delta({ tool_calls: [{ index, ...call }] });
    const text = JSON.stringify(given);
    piece({ id: `call_${this.#body.messages.length}_${index}`, type: "function", function: { name, arguments: "" } });
    piece({ function: { arguments: text.slice(0, 5) } });
    piece({ function: { arguments: text.slice(5) } });
    this.#reason = "tool_calls";
  }

  async #hold({ release, held, left }) {
    held.open();
    const closed = new Promise((resolve) => this.#outgoing.on("close", resolve)).then(left.open);
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
