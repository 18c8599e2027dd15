// A part of the page: the administration, which covers the chat while the address names it.

import { signal } from "@preact/signals";
import { render } from "preact";

import { confirm } from "../admin/list.tsx";
import { Administration } from "../admin/page.tsx";
import { texts } from "../admin/texts.ts";
import { form, readAddress, type Address } from "../admin/view.ts";
import { addStyle, byId, el } from "../view/dom.ts";

declare const STYLE: string;

addStyle(STYLE);

const address = signal<Address>({ panel: "", item: null });

/** The address of what is shown. */
let shown = "";

/** Shows the page of the address. */
export function openAdministration(): void {
  // The part may have arrived after the address changed again.
  if (document.getElementById("admin") || readAddress() === null) return;
  const page = el("dialog", { id: "admin", "aria-labelledby": "admin-title" });
  document.body.append(page);
  follow();
  render(<Administration address={address} />, page);
  page.show();
  cover(true);
}

function close(): void {
  cover(false);
  render(null, byId("admin"));
  byId("admin").remove();
  byId(matchMedia("(pointer: fine)").matches ? "message" : "open-settings").focus();
}

/** Covers the chat, and follows the address meanwhile. */
function cover(covered: boolean): void {
  byId("root").inert = covered;
  const wire = covered ? window.addEventListener : window.removeEventListener;
  // This event is before the one by which the page shows the conversation of the address.
  wire("popstate", onAddress);
  wire("beforeunload", onUnload);
}

/** Shows what the address names; with unsaved changes only after a confirmation. */
function onAddress(): void {
  const wanted = location.hash;
  if (!form.isChanged || wanted === shown) return follow();
  history.pushState(null, "", shown);
  if (document.getElementById("confirm-dialog")) return;
  confirm(texts.leave.title, texts.leave.text, texts.leave.label, async () => {
    form.isChanged = false;
    location.hash = wanted;
  });
}

function follow(): void {
  const named = readAddress();
  if (named === null) return close();
  [address.value, shown] = [named, location.hash];
}

function onUnload(event: Event): void {
  if (form.isChanged) event.preventDefault();
}
