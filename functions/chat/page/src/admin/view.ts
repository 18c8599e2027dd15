// The addresses of the administration, `#/admin/PANEL` and `#/admin/PANEL/ITEM`, and the unsaved changes of its form.

import { isAdministration } from "../state/address.ts";

const ADDRESS = /^#\/admin\/(\w+)(?:\/([^/]+))?$/;

/** The item of a form for something new. */
export const NEW = "new";

/** The address of a panel, or of the form of one of its items. */
export const hrefOf = (panel: string, item?: string) => `#/admin/${panel}${item === undefined ? "" : `/${encodeURIComponent(item)}`}`;

/** What an address names. */
export interface Address {
  panel: string;
  item: string | null;
}

/** The panel, empty for an unknown address, and the item of the page's address; null outside of the administration. */
export function readAddress(): Address | null {
  if (!isAdministration(location.hash)) return null;
  const [, panel = "", item] = ADDRESS.exec(location.hash) ?? [];
  try {
    return { panel, item: item === undefined ? null : decodeURIComponent(item) };
  } catch {
    return { panel, item: null };
  }
}

/** Whether the shown form has changes that are not saved. */
export const form = { isChanged: false };
