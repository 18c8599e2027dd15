// A page that shows one component of React: a document without a browser, in which a test types and clicks.
// Its address is the open server's, as if that served it. Run by itself, `node page.js COMPONENT QUESTION` prints what the
// component shows once the question is answered.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { transform } from "esbuild";
import { Window } from "happy-dom";

const MADE = fileURLToPath(new URL("../node_modules/.examples/", import.meta.url));
const PATIENCE_MS = 30_000;
const root = process.env.LAMBDA_CHAT_URL;
const window = new Window({ url: root });
const { document, FormData } = window;
const askServer = globalThis.fetch;
const requests = { made: 0, answered: 0 };
async function fetchFromRoot(to, more) {
  requests.made += 1;
  try {
    return await askServer(new URL(to, root), more);
  } finally {
    requests.answered += 1;
  }
}
Object.assign(globalThis, { window, document, FormData, fetch: fetchFromRoot });
globalThis.navigator ??= window.navigator;
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");

/** The default export of a component's source. */
export async function component(source, name) {
  const { code } = await transform(source, { loader: "tsx", jsx: "automatic" });
  await mkdir(MADE, { recursive: true });
  const file = path.join(MADE, `${name}.mjs`);
  await writeFile(file, code);
  return (await import(file)).default;
}

/** Shows a component. */
export function open(Component, props) {
  const before = requests.made;
  const place = document.body.appendChild(document.createElement("div"));
  const shown = createRoot(place);
  shown.render(createElement(Component, props));
  const button = (name) => [...place.querySelectorAll("button")].find((one) => one.textContent === name && !one.disabled);
  const until = async (holds) => {
    const last = Date.now() + PATIENCE_MS;
    for (let found = holds(); ; found = holds()) {
      if (found) return found;
      if (Date.now() > last) throw new Error(`not so within ${PATIENCE_MS / 1000} s: ${holds}; it shows\n${place.textContent}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const click = async (name) => (await until(() => button(name))).click();
  const texts = (selector) => [...place.querySelectorAll(selector)].map((one) => one.textContent);
  return {
    text: () => texts("article, [role=alert]").join("\n"),
    /** Until a message begins so. A question that is a script names what is answered, but does not begin with it. */
    reads: (text) => until(() => texts("article").some((message) => message.startsWith(text))),
    alerts: (text) => until(() => texts("[role=alert]").some((alert) => alert.includes(text))),
    idle: () => until(() => button("Send")),
    answered: () => until(() => button("Again")),
    click,
    ask: async (words) => {
      // Nobody types before a new page has asked for an answer that still runs. When that comes to nothing, the SDK's status is
      // "ready", also after an error that came meanwhile.
      await until(() => requests.made > before && requests.answered === requests.made);
      (await until(() => place.querySelector("input"))).value = words;
      await click("Send");
    },
    close: () => {
      shown.unmount();
      place.remove();
    },
  };
}

/** Ends it all; nothing can be shown afterwards. */
export const leave = () => window.happyDOM.close();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, question] = process.argv.slice(2);
  const page = open(await component(await readFile(file, "utf8"), "shown"), { id: `page-${process.pid}` });
  await page.ask(question);
  await page.answered();
  console.log(page.text());
  page.close();
  await leave();
}
