// Loads the page's scripts as ES modules, because no package.json declares their type.
// Usage: `node --import ./support/modules.mjs`.

import { register } from "node:module";

const hook = `export async function load(url, context, next) {
  return next(url, url.includes('/functions/chat/page/') ? { ...context, format: 'module' } : context);
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
