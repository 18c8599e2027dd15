// Building elements by hand: everything the page shows goes through text nodes and attributes, never through markup.

const SVG = "http://www.w3.org/2000/svg";

/** Makes an element; `props` holds attributes (`true` sets an empty one, `false` and `null` none), a child may be a list. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  // One by one: as arguments of a single call, a hundred thousand of them would overflow the stack.
  for (const child of children.flat()) node.append(child);
  return node;
}

/** An icon of the sprite in the page; decorative, so hidden from assistive technology. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** A button with words; `name` puts an icon before them. */
export function button(words, onClick, { name, kind = "quiet" } = {}) {
  const node = el("button", { type: "button", class: `button ${kind}` }, name ? icon(name) : [], words);
  node.addEventListener("click", onClick);
  return node;
}

/** A button that shows an icon only; the words are its label and its tooltip. */
export function iconButton(words, name, onClick) {
  const node = el("button", { type: "button", class: "icon-button", "aria-label": words, title: words }, icon(name));
  node.addEventListener("click", onClick);
  return node;
}

/** The element with this id; the page is broken without it. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** Puts text on the clipboard, also where the clipboard API is closed because the page is not served by https. */
export async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Tells users of screen readers what happened; for ends and results, not for text as it comes. */
export function announce(words) {
  byId("announcer").textContent = words;
}
