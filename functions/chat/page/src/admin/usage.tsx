// Usage of all callers: sums and budgets, and a table by user, group or model.

import { useSignal } from "@preact/signals";

import { requestText } from "../api/client.ts";
import type { UsageRow } from "../api/types.ts";
import { failureText } from "../view/failures.ts";
import { costText, formatNumber, t } from "../i18n/index.ts";
import { readUsage } from "../settings/account.ts";
import { Figures } from "../settings/usage.tsx";
import { Button, OptionList } from "../view/controls.tsx";
import { saveFile } from "../view/dom.ts";
import { useLoaded } from "../view/loaded.ts";
import { Loaded, Table, usePages } from "./list.tsx";
import { texts } from "./texts.ts";

const PATH = "/api/admin/usage";

type Subject = "user" | "group" | "model";

/** The panel of usage. */
export function UsagePanel() {
  const by = useSignal<Subject>("user");
  const failure = useSignal("");
  const query = { days: "30", by: by.value };
  const sums = useLoaded(() => readUsage("deployment"));
  const pages = usePages<UsageRow>("rows", PATH, query);
  const save = async () => {
    const text = await requestText(`${PATH}?${new URLSearchParams({ ...query, format: "csv" })}`);
    saveFile(new Blob([text], { type: "text/csv" }), "usage.csv");
  };
  const { subjects, columns, title, download } = texts.usage;
  const [subject, label] = [subjects[by.value], `${title} ${subjects[by.value]}`];
  if (!sums.value) return sums.failure ? <p class="field-error" role="alert">{sums.failure}</p> : <p>{t.loading}</p>;
  return (
    <>
      <Figures report={sums.value} />
      <form class="admin-filter">
        <label for="usage-by">{title}</label>
        <select id="usage-by" onChange={({ currentTarget }) => (by.value = currentTarget.value as Subject)}>
          <OptionList options={Object.entries(subjects)} selected={by.value} />
        </select>
        <Button icon="download" onClick={() => void save().catch((thrown: unknown) => (failure.value = failureText(thrown)))}>{download}</Button>
      </form>
      <div aria-live="polite">
        <Loaded pages={pages}>{(rows) => <Table label={label} numbers={columns.length} columns={[subject, ...columns]} rows={rows.map((row) => cells(row, by.value))} />}</Loaded>
        {failure.value && <p class="field-error" role="alert">{failure}</p>}
      </div>
    </>
  );
}

function cells(row: UsageRow, by: Subject): string[] {
  const counts = [row.turns, row.inputTokens, row.outputTokens, row.searchCredits].map(formatNumber);
  return [row[by] ?? texts.usage.unknown, ...counts, row.costMicros === undefined ? "" : costText(row.costMicros)];
}
