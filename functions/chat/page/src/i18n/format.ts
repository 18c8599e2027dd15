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
  // Chinese text has a space between a number and its unit.
  return locale === "zh-CN" ? text.replace(/\d(?=\p{Script=Han})/u, "$& ") : text;
}

/** A list such as `a, b and c`. */
export function list(locale: string, items: string[]): string {
  return new Intl.ListFormat(locale).format(items);
}
