// The usage section of the settings: today, the last 30 days, and what is left of each budget.

import { errorText } from "../answer/strings.ts";
import { readUsage, type Budget, type BudgetName, type UsageDay, type UsageReport } from "../api/account.ts";
import { ApiError } from "../api/client.ts";
import { formatNumber, t } from "../i18n/index.ts";
import { el, type Child } from "../view/dom.ts";

const BUDGETS: readonly BudgetName[] = ["tokens", "searches", "costMicros"];

/** The section; its numbers appear when the server has sent them. */
export function usageSection(): HTMLElement {
  const content = el("div", { class: "usage-content", "aria-live": "polite" }, el("p", {}, t.loading));
  void fill(content);
  return el("section", { "aria-labelledby": "settings-usage" }, el("h3", { id: "settings-usage" }, t.settings.usage), content);
}

async function fill(content: HTMLElement): Promise<void> {
  try {
    const report = await readUsage();
    content.replaceChildren(...meters(report), usageTable(report));
  } catch (thrown) {
    content.replaceChildren(el("p", {}, t.settings.usageFailed(errorText(ApiError.from(thrown)))));
  }
}

/** One meter per budget. */
export function meters({ budgets }: UsageReport): HTMLElement[] {
  return BUDGETS.flatMap((name) => {
    const budget = budgets[name];
    return budget ? [meter(name, budget)] : [];
  });
}

function meter(name: BudgetName, { limit, used, resetsAt }: Budget): HTMLElement {
  const amount = name === "costMicros" ? costText : formatNumber;
  const left = Math.max(0, limit - used);
  const resets = new Intl.DateTimeFormat(t.locale, { weekday: "short", hour: "2-digit", minute: "2-digit" });
  const text = `${t.settings.budgetLeft(amount(left), amount(limit))} · ${t.settings.resets(resets.format(new Date(resetsAt)))}`;
  // A limit of zero leaves nothing; a meter needs a range.
  const max = Math.max(limit, 1);
  const value = limit === 0 ? 1 : Math.min(used, limit);
  const bar = el("meter", { min: 0, max, value, high: max * 0.9, optimum: 0, "aria-label": t.settings.budgets[name] });
  return el("div", { class: "budget" }, el("span", {}, t.settings.budgets[name]), bar, el("small", {}, text));
}

/** The sums of today and of the last 30 days. */
export function usageTable({ today, days }: UsageReport): HTMLElement {
  const month = days.reduce(add, emptyDay());
  const row = (label: string, value: (day: UsageDay) => string) =>
    el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, value(today)), el("td", {}, value(month)));
  const rows: Child[] = [
    row(t.settings.turns, ({ turns }) => formatNumber(turns)),
    row(t.settings.tokens, ({ inputTokens, outputTokens }) => formatNumber(inputTokens + outputTokens)),
    row(t.settings.searches, ({ searchCredits }) => formatNumber(searchCredits)),
  ];
  if (month.costMicros !== undefined) rows.push(row(t.settings.cost, ({ costMicros }) => costText(costMicros ?? 0)));
  const head = [el("td"), el("th", { scope: "col" }, t.settings.today), el("th", { scope: "col" }, t.settings.month)];
  return el("table", { class: "figures" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
}

const emptyDay = (): UsageDay => ({ date: "", turns: 0, inputTokens: 0, outputTokens: 0, searchCredits: 0 });

function add(sum: UsageDay, day: UsageDay): UsageDay {
  const cost = (sum.costMicros ?? 0) + (day.costMicros ?? 0);
  const priced = sum.costMicros !== undefined || day.costMicros !== undefined;
  return {
    date: "",
    turns: sum.turns + day.turns,
    inputTokens: sum.inputTokens + day.inputTokens,
    outputTokens: sum.outputTokens + day.outputTokens,
    searchCredits: sum.searchCredits + day.searchCredits,
    ...(priced && { costMicros: cost }),
  };
}

/** A cost in units of the currency, which the server does not name. */
export function costText(micros: number): string {
  const format = new Intl.NumberFormat(t.locale, { minimumFractionDigits: 2, maximumFractionDigits: micros < 10_000 ? 6 : 2 });
  return format.format(micros / 1_000_000);
}
