// The texts of the settings in the language of the page.

import { t } from "../i18n/index.ts";
import { settings as en } from "./en.ts";
import { settings as zhCN } from "./zh-CN.ts";

export const texts = t.locale === "zh-CN" ? zhCN : en;
