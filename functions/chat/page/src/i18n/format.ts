// Numbers, sizes and durations by locale. Pure.

/** A number with the locale's separators. */
export function number(locale: string, value: number): string {
  return new Intl.NumberFormat(locale).format(value);
}

/** A number with a unit of `Intl`, such as `second` or `megabyte`. */
export function unit(locale: string, value: number, name: string, digits = 0): string {
  const unitDisplay = name === "second" ? "narrow" : "short";
  const style = { style: "unit", unit: name, unitDisplay } as const;
  const text = new Intl.NumberFormat(locale, { ...style, minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
  return spaced(locale, text);
}

/** A time, such as `Tue 00:00`. */
export function date(locale: string, options: Intl.DateTimeFormatOptions, value: string): string {
  return spaced(locale, new Intl.DateTimeFormat(locale, options).format(new Date(value)));
}

/** Chinese text has a space between Han characters and digits, which `Intl` does not write. */
export function spaced(locale: string, text: string): string {
  return locale.startsWith("zh") ? text.replace(/(?<=\d)(?=\p{Script=Han})|(?<=\p{Script=Han})(?=\d)/gu, " ") : text;
}

/** A list such as `a, b and c`; in Chinese `a、b、c`, which needs no space before a number or a name. */
export function list(locale: string, items: string[]): string {
  return locale === "zh-CN" ? items.join("、") : new Intl.ListFormat(locale).format(items);
}
