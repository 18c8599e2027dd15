// The usage section of the settings: today, the last 30 days, and what is left of each budget.

import { costText, formatDate, formatNumber, t } from "../i18n/index.ts";
import { useLoaded } from "../view/loaded.ts";
import { readUsage, type Budget, type BudgetName, type UsageDay, type UsageReport } from "./account.ts";
import { Section } from "./section.tsx";
import { texts } from "./texts.ts";

const BUDGETS: readonly BudgetName[] = ["tokens", "searches", "costMicros"];

const NO_USAGE: UsageDay = { date: "", turns: 0, inputTokens: 0, outputTokens: 0, searchCredits: 0 };

/** The section; its numbers appear when the server has sent them. */
export function Usage() {
  const { value: report, failure } = useLoaded(() => readUsage());
  return (
    <Section id="settings-usage" title={texts.usage}>
      <div class="usage-content" aria-live="polite">
        {report ? <Figures report={report} /> : <p>{failure ? texts.usageFailed(failure) : t.loading}</p>}
      </div>
    </Section>
  );
}

/** One meter per budget, and the sums of today and of the last 30 days. */
export function Figures({ report: { budgets, today, days } }: { report: UsageReport }) {
  const month = days.reduce(add, NO_USAGE);
  const rows: [string, (day: UsageDay) => string][] = [
    [texts.turns, ({ turns }) => formatNumber(turns)],
    [texts.tokens, ({ inputTokens, outputTokens }) => formatNumber(inputTokens + outputTokens)],
    [texts.searches, ({ searchCredits }) => formatNumber(searchCredits)],
  ];
  if (month.costMicros !== undefined) rows.push([texts.cost, ({ costMicros = 0 }) => costText(costMicros)]);
  return (
    <>
      {BUDGETS.map((name) => budgets[name] && <Meter key={name} name={name} budget={budgets[name]} />)}
      <table class="figures">
        <thead><tr><td /><th scope="col">{t.list.today}</th><th scope="col">{texts.month}</th></tr></thead>
        <tbody>{rows.map(([label, value]) => <tr key={label}><th scope="row">{label}</th><td>{value(today)}</td><td>{value(month)}</td></tr>)}</tbody>
      </table>
    </>
  );
}

function Meter({ name, budget: { limit, used, resetsAt } }: { name: BudgetName; budget: Budget }) {
  const amount = name === "costMicros" ? costText : formatNumber;
  const left = texts.budgetLeft(amount(Math.max(0, limit - used)), amount(limit));
  // A limit of zero leaves nothing; a meter needs a range.
  const max = Math.max(limit, 1);
  return (
    <div class="budget">
      <span>{texts.budgets[name]}</span>
      <meter min={0} max={max} value={limit === 0 ? 1 : Math.min(used, limit)} high={max * 0.9} optimum={0} aria-label={texts.budgets[name]} />
      <small>{`${left} · ${texts.resets(formatDate(resetsAt, { weekday: "short", hour: "2-digit", minute: "2-digit" }))}`}</small>
    </div>
  );
}

function add(sum: UsageDay, day: UsageDay): UsageDay {
  const priced = sum.costMicros !== undefined || day.costMicros !== undefined;
  return {
    date: "",
    turns: sum.turns + day.turns,
    inputTokens: sum.inputTokens + day.inputTokens,
    outputTokens: sum.outputTokens + day.outputTokens,
    searchCredits: sum.searchCredits + day.searchCredits,
    ...(priced && { costMicros: (sum.costMicros ?? 0) + (day.costMicros ?? 0) }),
  };
}
