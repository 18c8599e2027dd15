// Screenshots for the documentation: with SCREENSHOTS=1 the tests write them to docs/page.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../../../docs/page/", import.meta.url));

/** Saves an element as `docs/page/NAME.png`. */
export async function capture(element, name) {
  if (!process.env.SCREENSHOTS) return;
  await mkdir(FOLDER, { recursive: true });
  await element.screenshot({ path: `${FOLDER}${name}.png`, scale: "css" });
}
