// A page with one React component, in a DOM without a browser; a test types and clicks in it.
// Its URL is the open server's, as if that server had sent it. `node page.js COMPONENT MESSAGE` sends a message and prints
// the component's text after the answer.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { transform } from "esbuild";
import { Window } from "happy-dom";

const BUILD_DIR = fileURLToPath(new URL("../node_modules/.examples/", import.meta.url));
const TIMEOUT_MS = 30_000;
const root = process.env.LAMBDA_CHAT_URL;
const window = new Window({ url: root });
const { document, FormData } = window;
const realFetch = globalThis.fetch;
const requests = { sent: 0, answered: 0 };
async function fetchFromRoot(url, options) {
  requests.sent += 1;
  try {
    return await realFetch(new URL(url, root), options);
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
  await mkdir(BUILD_DIR, { recursive: true });
  const file = path.join(BUILD_DIR, `${name}.mjs`);
  await writeFile(file, code);
  return (await import(file)).default;
}

/** Mounts a component. */
export function mount(Component, props) {
  const before = requests.sent;
  const container = document.body.appendChild(document.createElement("div"));
  const reactRoot = createRoot(container);
  reactRoot.render(createElement(Component, props));
  const button = (name) =>
    [...container.querySelectorAll("button")].find((one) => one.textContent === name && !one.disabled);
  const until = async (condition) => {
    const deadline = Date.now() + TIMEOUT_MS;
    for (let result = condition(); ; result = condition()) {
      if (result) return result;
      if (Date.now() > deadline) {
        throw new Error(`timeout after ${TIMEOUT_MS / 1000} s: ${condition}; the page shows\n${container.textContent}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const click = async (name) => (await until(() => button(name))).click();
  const texts = (selector) => [...container.querySelectorAll(selector)].map((one) => one.textContent);
  return {
    text: () => texts("article, [role=alert]").join("\n"),
    /** Waits until a message starts with a text. A script contains the text too, but does not start with it. */
    waitForMessage: (text) => until(() => texts("article").some((message) => message.startsWith(text))),
    waitForAlert: (text) => until(() => texts("[role=alert]").some((alert) => alert.includes(text))),
    waitUntilIdle: () => until(() => button("Send")),
    waitForAnswer: () => until(() => button("Again")),
    click,
    send: async (text) => {
      // A new page first requests the stream of a running answer. If there is none, the SDK sets its status to "ready",
      // which would hide the error of an earlier message. So the message waits for that request.
      await until(() => requests.sent > before && requests.answered === requests.sent);
      (await until(() => container.querySelector("input"))).value = text;
      await click("Send");
    },
    close: () => {
      reactRoot.unmount();
      container.remove();
    },
  };
}

/** Closes the window; no component can be mounted afterwards. */
export const closeWindow = () => window.happyDOM.close();

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, message] = process.argv.slice(2);
  const page = mount(await component(await readFile(file, "utf8"), "shown"), { id: `page-${process.pid}` });
  await page.send(message);
  await page.waitForAnswer();
  console.log(page.text());
  page.close();
  await closeWindow();
}
