// Builds elements. All content goes through text nodes and attributes, never through markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an element.
 *
 * `props` holds attributes; `true` sets an empty one, `false` and `null` set none. A child may be a list.
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  // One call per child: 100,000 arguments of a single call would overflow the stack.
  for (const child of children.flat()) node.append(child);
  return node;
}

/** An icon from the page's sprite. It is decorative, so it is hidden from assistive technology. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** A button with a label and, with `iconName`, an icon before it. */
export function button(label, onClick, { iconName, kind = "quiet" } = {}) {
  const node = el("button", { type: "button", class: `button ${kind}` }, iconName ? icon(iconName) : [], label);
  node.addEventListener("click", onClick);
  return node;
}

/** A button with an icon only; `label` is its accessible name and its tooltip. */
export function iconButton(label, iconName, onClick) {
  const props = { type: "button", class: "icon-button", "aria-label": label, title: label };
  const node = el("button", props, icon(iconName));
  node.addEventListener("click", onClick);
  return node;
}

/** The element with this id; throws if the page has none. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** Copies text to the clipboard, also without the clipboard API, which browsers disable on pages without TLS. */
export async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Announces a text to screen readers; for results and ends, not for streamed text. */
export function announce(text) {
  byId("announcer").textContent = text;
}
