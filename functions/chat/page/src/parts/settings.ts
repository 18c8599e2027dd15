// A part of the page: the settings and the setup guide.

import { addStyle } from "../view/dom.ts";

declare const STYLE: string;

addStyle(STYLE);

export { notifyEnd } from "../settings/notifications.tsx";
export { openSettings } from "../settings/settings.tsx";
export { openGuide } from "../setup/guide.tsx";
