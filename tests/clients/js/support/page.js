// A page that shows one component of React: a document without a browser, in which a test types and clicks.
// Its address is the open server's, as if that served it. Run by itself, `node page.js COMPONENT QUESTION` prints what the
// component shows once the question is answered.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { transform } from "esbuild";
import { Window } from "happy-dom";

const MADE = fileURLToPath(new URL("../node_modules/.examples/", import.meta.url));
const root = process.env.LAMBDA_CHAT_URL;
const window = new Window({ url: root });
const { document, FormData } = window;
const askServer = globalThis.fetch;
Object.assign(globalThis, { window, document, FormData, fetch: (to, more) => askServer(new URL(to, root), more) });
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
  const place = document.body.appendChild(document.createElement("div"));
  const shown = createRoot(place);
  shown.render(createElement(Component, props));
  const button = (name) => [...place.querySelectorAll("button")].find((button) => button.textContent === name);
  const until = async (holds) => {
    for (let found = holds(); ; found = holds()) {
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const click = async (name) => (await until(() => button(name))).click();
  return {
    text: () => [...place.querySelectorAll("article, [role=alert]")].map((one) => one.textContent).join("\n"),
    reads: (text) => until(() => place.textContent.includes(text)),
    idle: () => until(() => button("Send")),
    busy: () => until(() => button("Stop")),
    click,
    ask: async (words) => {
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
  await page.reads("Again");
  console.log(page.text());
  page.close();
  await leave();
}
