// The texts of the setup guide in the language of the page.

import { t } from "../i18n/index.ts";
import { setup as en } from "./en.ts";
import { setup as zhCN } from "./zh-CN.ts";

export const texts = t.locale === "zh-CN" ? zhCN : en;
