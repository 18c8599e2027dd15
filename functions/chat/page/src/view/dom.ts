// Builds elements. All content goes through text nodes and attributes, never through markup.

const SVG = "http://www.w3.org/2000/svg";

/** The value of an attribute: `true` sets an empty one, `false`, `null` and `undefined` set none. */
export type Attribute = string | number | boolean | null | undefined;

/** The children of an element; lists are flattened. */
export type Child = Node | string | Child[];

/** Creates an element with attributes and children. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes?: Record<string, Attribute>,
  ...children: Child[]
): HTMLElementTagNameMap[Tag];
export function el(tag: string, attributes?: Record<string, Attribute>, ...children: Child[]): HTMLElement;
export function el(tag: string, attributes: Record<string, Attribute> = {}, ...children: Child[]): HTMLElement {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** Appends children one by one: 100,000 arguments of a single call would overflow the stack. */
function append(node: HTMLElement, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else node.append(child);
  }
}

/** The names of the icons in the document's sprite. */
export type IconName =
  | "list" | "new" | "pencil" | "trash" | "sun" | "moon" | "send" | "stop" | "copy" | "check" | "alert" | "reload"
  | "key" | "data" | "down" | "close" | "more" | "language" | "chevron" | "search" | "tool" | "bulb" | "settings"
  | "archive" | "pin" | "share" | "download" | "temporary" | "thumb" | "attach";

/** An icon from the document's sprite. It is decorative, so it is hidden from assistive technology. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** A button with a label and, with `iconName`, an icon before it. `kind` is its CSS class. */
export function button(
  label: string,
  onClick: () => void,
  { iconName, kind = "quiet" }: { iconName?: IconName; kind?: string } = {},
): HTMLButtonElement {
  const node = el("button", { type: "button", class: `button ${kind}` }, iconName ? icon(iconName) : [], label);
  node.addEventListener("click", onClick);
  return node;
}

/** A button with an icon only; `label` is its accessible name and its tooltip. */
export function iconButton(label: string, iconName: IconName, onClick: (event: MouseEvent) => void): HTMLButtonElement {
  const attributes = { type: "button", class: "icon-button", "aria-label": label, title: label };
  const node = el("button", attributes, icon(iconName));
  node.addEventListener("click", onClick);
  return node;
}

/** The element with this id; throws if the page has none. */
export function byId(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** A link without a referrer, with its target as tooltip; `href` must come from `safeHref`. */
export function link(href: string, attributes: Record<string, Attribute> = {}, ...children: Child[]): HTMLElement {
  const rel = "noopener noreferrer nofollow";
  return el("a", { href, title: href, target: "_blank", rel, ...attributes }, ...children);
}

/** Copies text to the clipboard, also without the clipboard API, which browsers disable on pages without TLS. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Copies a text, and the same with its formatting where the browser can. */
export async function copyFormatted(text: string, html: string): Promise<void> {
  if (!window.isSecureContext || !navigator.clipboard?.write || typeof ClipboardItem === "undefined") return copyText(text);
  const types = { "text/plain": text, "text/html": html };
  const blobs = Object.entries(types).map(([type, content]) => [type, new Blob([content], { type })]);
  await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
}

/** Announces a text to screen readers; for results and ends, not for streamed text. */
export function announce(text: string): void {
  byId("announcer").textContent = text;
}

/** Shows for two seconds that a button has done its work: by its text `label`, or by the icon if it has no text. */
export function flash(node: HTMLElement, done: string, label: string): void {
  announce(done);
  if (node.dataset.done !== undefined) return;
  const name = node.getAttribute("aria-label");
  const use = node.matches(".icon-button") ? node.querySelector("use") : null;
  const href = use?.getAttribute("href") ?? "";
  const show = (text: string, name: string | null, href: string) => {
    if (use) use.setAttribute("href", href);
    else (node.lastChild ?? node).textContent = text;
    if (name !== null) node.setAttribute("aria-label", name);
  };
  node.dataset.done = "";
  show(done, name && done, "#icon-check");
  setTimeout(() => {
    show(label, name, href);
    delete node.dataset.done;
  }, 2000);
}

/** Adds the style sheet of a part; the content security policy permits none in an element. */
export function addStyle(text: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** Downloads a file through a temporary link. */
export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const anchor = el("a", { href: url, download: name });
  anchor.click();
  // The browser reads the URL after this function returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
