// What the tests have in common: the scripted model's words, and what it is told beside them (see model.js and stage.js).

/** The models: tools told natively, and tools told as text. */
export const PATHS = ["native", "prompt"];

export const SEARCH = { call: ["search_web", { query: "What is Lambda Chat?" }] };
export const WEATHER = { call: ["get_weather", { city: "Paris" }] };
export const SEARCHED = [[SEARCH], [{ think: "A page says it. " }, "A chat backend", " 🙂 [1]."]];

/** The user's words that make the model answer so, reply by reply. */
export const words = (...rounds) => JSON.stringify(rounds);

/** Lets the model go on that holds at `key`. */
export const release = (key) => fetch(`${process.env.MODEL_URL}/release/${key}`);

/** Waits until whoever asked the model has left while it holds at `key`. */
export const left = (key) => fetch(`${process.env.MODEL_URL}/left/${key}`);

/** Waits until the model holds at `key`. */
export const held = (key) => fetch(`${process.env.MODEL_URL}/held/${key}`);

/** A `fetch` that refuses what a browser would refuse a page of another origin: headers without leave. */
export async function fetchOfPage(url, options = {}) {
  const safe = ["accept", "accept-language", "content-language"];
  const headers = new Headers(options.headers);
  const asked = [...headers.keys()].filter((name) => !safe.includes(name));
  const preflight = {
    origin: "https://pages.example",
    "access-control-request-method": options.method ?? "GET",
    "access-control-request-headers": asked.join(","),
  };
  const leave = await fetch(url, { method: "OPTIONS", headers: preflight });
  const allowed = leave.headers.get("access-control-allow-headers").split(/, */);
  const refused = asked.filter((name) => !allowed.includes(name));
  if (refused.length > 0) throw new TypeError(`no leave for ${refused}`);
  headers.set("origin", preflight.origin);
  return fetch(url, { ...options, headers });
}
