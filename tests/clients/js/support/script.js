// Shared by the tests: scripts for the scripted model, and its control requests (see model.js and stage.js).

/** The models: one with native tools, one with tools in the prompt. */
export const PATHS = ["native", "prompt"];

export const SEARCH = { call: ["search_web", { query: "What is Lambda Chat?" }] };
export const WEATHER = { call: ["get_weather", { city: "Paris" }] };
export const SEARCHED = [[SEARCH], [{ think: "A page says it. " }, "A chat backend", " 🙂 [1]."]];

/** The user message that makes the model send these replies, one per round. */
export const script = (...rounds) => JSON.stringify(rounds);

/** Releases the model's reply that is held at `key`. */
export const release = (key) => fetch(`${process.env.MODEL_URL}/release/${key}`);

/** Waits until the server closes the connection of the reply that is held at `key`. */
export const waitForDisconnect = (key) => fetch(`${process.env.MODEL_URL}/disconnected/${key}`);

/** Waits until the model holds a reply at `key`. */
export const waitUntilHeld = (key) => fetch(`${process.env.MODEL_URL}/held/${key}`);

/** A `fetch` with the CORS rules of a browser: it throws if a header is not allowed for another origin. */
export async function fetchOfPage(url, options = {}) {
  const safelisted = ["accept", "accept-language", "content-language"];
  const headers = new Headers(options.headers);
  const requested = [...headers.keys()].filter((name) => !safelisted.includes(name));
  const preflight = {
    origin: "https://pages.example",
    "access-control-request-method": options.method ?? "GET",
    "access-control-request-headers": requested.join(","),
  };
  const response = await fetch(url, { method: "OPTIONS", headers: preflight });
  const allowed = response.headers.get("access-control-allow-headers").split(/, */);
  const blocked = requested.filter((name) => !allowed.includes(name));
  if (blocked.length > 0) throw new TypeError(`CORS blocks the headers ${blocked}`);
  headers.set("origin", preflight.origin);
  return fetch(url, { ...options, headers });
}
