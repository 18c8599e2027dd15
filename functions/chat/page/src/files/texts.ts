// The texts of files and passages in the language of the page.

import { t } from "../i18n/index.ts";
import { texts as en } from "./en.ts";
import { texts as zhCN } from "./zh-CN.ts";

export const texts = t.locale === "zh-CN" ? zhCN : en;
