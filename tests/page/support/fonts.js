// Gives the browsers that a test starts after this import the fonts that ./run brings, and none of the machine's.
//
// They are fonts that users have: Roboto is Android's, WenQuanYi Micro Hei has the Chinese characters of Android's
// Droid Sans Fallback, and the letters of Droid Sans Mono. None of them has changed since 2017.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of the fonts, which Firefox's sandbox must be permitted to read. */
export const FONTS = fileURLToPath(new URL("../node_modules/.fonts/", import.meta.url));

if (!existsSync(FONTS)) throw new Error(`${FONTS} is missing: ./run brings the fonts of this test`);

process.env.FONTCONFIG_FILE = fileURLToPath(new URL("fonts.conf", import.meta.url));
