// The language of the page: the user's choice, else the browser's first language that the page has.

import { en, type Texts } from "./en.ts";
import * as format from "./format.ts";
import { zhCN } from "./zh-CN.ts";

const TABLES: readonly Texts[] = [en, zhCN];
const NAME = "language";

/** The primary language of a tag. */
const language = (tag: string) => tag.toLowerCase().split("-")[0];

/** The table of a language tag, by its primary language; English for a language that the page does not have. */
export function textsFor(tags: readonly string[]): Texts {
  for (const tag of tags) {
    const found = TABLES.find(({ locale }) => language(locale) === language(tag));
    if (found) return found;
  }
  return en;
}

function preferred(): string[] {
  const chosen = globalThis.localStorage?.getItem(NAME);
  return [...(chosen ? [chosen] : []), ...(globalThis.navigator?.languages ?? [])];
}

/** The texts of the page's language. */
export const t: Texts = textsFor(preferred());

/** The locale of dates: the browser's first one of the page's language and script, such as `en-GB`. */
export function dateLocale({ locale }: Pick<Texts, "locale">, tags: readonly string[]): string {
  const form = (tag: string) => `${language(tag)} ${new Intl.Locale(tag).maximize().script}`;
  return tags.find((tag) => form(tag) === form(locale)) ?? locale;
}

/** A time by the browser's conventions, in the page's language. */
export const formatDate = (value: string, options: Intl.DateTimeFormatOptions = { dateStyle: "medium", timeStyle: "short" }) =>
  format.date(dateLocale(t, navigator.languages), options, value);

/** The languages of the page, as tables. */
export const languages = TABLES;

/** Stores a language and loads the page again. A running answer continues. */
export function chooseLanguage(locale: string): void {
  localStorage.setItem(NAME, locale);
  location.reload();
}

/** A number in the page's language. */
export const formatNumber = (value: number) => format.number(t.locale, value);

/** A cost in units of the currency, which the server does not name. */
export function costText(micros: number): string {
  const format = new Intl.NumberFormat(t.locale, { minimumFractionDigits: 2, maximumFractionDigits: micros < 10_000 ? 6 : 2 });
  return format.format(micros / 1_000_000);
}

/** A list in the page's language. */
export const formatList = (items: string[]) => format.list(t.locale, items);

/** A duration in seconds, with one decimal below 10 s. */
export function durationText(ms: number): string {
  if (ms < 50) return `< ${format.unit(t.locale, 0.1, "second", 1)}`;
  return ms < 9950
    ? format.unit(t.locale, ms / 1000, "second", 1)
    : format.unit(t.locale, Math.round(ms / 1000), "second");
}

/** A size in bytes, such as `12 kB` or `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return t.found.bytes(bytes);
  if (bytes < 1_000_000) return format.unit(t.locale, Math.round(bytes / 1000), "kilobyte");
  return format.unit(t.locale, bytes / 1_000_000, "megabyte", 1);
}
