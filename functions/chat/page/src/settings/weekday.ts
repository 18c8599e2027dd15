// A time of the week.

import { spaced } from "../i18n/format.ts";

/** A weekday with the time of day, such as `Tue 00:00`. */
export function weekday(locale: string, time: Date): string {
  return spaced(locale, new Intl.DateTimeFormat(locale, { weekday: "short", hour: "2-digit", minute: "2-digit" }).format(time));
}
