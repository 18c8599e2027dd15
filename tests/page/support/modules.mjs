// Loads the page's scripts as modules: they are served to browsers and have no package.json of their own to say so.
// Used with `node --import ./support/modules.mjs`.

import { register } from "node:module";

const hook = `export async function load(url, context, next) {
  return next(url, url.includes('/functions/chat/page/') ? { ...context, format: 'module' } : context);
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
