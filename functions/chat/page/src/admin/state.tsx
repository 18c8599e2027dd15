// What the server does: tool calls, feedback and models.

import { useSignal } from "@preact/signals";

import type { Execution, Model, Rating } from "../api/types.ts";
import { formatNumber } from "../i18n/index.ts";
import { ModelCheck } from "../setup/model-check.tsx";
import { Filter, Loaded, Table, timeText, usePages } from "./list.tsx";
import { texts } from "./texts.ts";

/** The panel of tool calls: pages of all calls, or those of one answer. */
export function CallsPanel() {
  const message = useSignal("");
  const query: Record<string, string> = message.value === "" ? { limit: "50" } : { message: message.value };
  const pages = usePages<Execution>("executions", "/api/admin/executions", query);
  const head = <Filter id="call-message" label={texts.calls.message} submit={texts.calls.filter} value={message} pages={pages} />;
  return (
    <Loaded pages={pages} head={head}>
      {(calls) => <Table label={texts.tabs.calls} columns={texts.calls.columns} numbers={2} rows={calls.map(callRow)} />}
    </Loaded>
  );
}

function callRow({ owner, tool, arguments: args, ok, error, cached, durationMs, bytes, at }: Execution): string[] {
  const outcome = ok ? (cached ? texts.calls.cached : texts.calls.ok) : (error ?? texts.tools.error);
  return [timeText(at), owner, tool, JSON.stringify(args), outcome, `${formatNumber(durationMs)} ms`, formatNumber(bytes)];
}

/** The panel of feedback: what users think of answers, page by page. */
export function FeedbackPanel() {
  const pages = usePages<Rating>("feedback", "/api/admin/feedback");
  const row = ({ createdAt, owner, rating, reason, model, messageId }: Rating) => [
    timeText(createdAt),
    owner,
    texts.feedback.ratings[rating] ?? rating,
    reason ?? "",
    model,
    messageId,
  ];
  return <Loaded pages={pages}>{(all) => <Table label={texts.tabs.feedback} columns={texts.feedback.columns} rows={all.map(row)} />}</Loaded>;
}

/** The panel of models: their state, and a check of each. */
export function ModelsPanel() {
  const pages = usePages<Model>("models", "/api/models");
  const { isDefault, failing: broken, demo: demonstration, ready, columns } = texts.models;
  const row = ({ name, provider, model, default: first, demo, failing, tools, toolsFrom }: Model) => [
    [name, ...(model === name ? [] : [model]), ...(first ? [isDefault] : [])].join(" · "),
    provider,
    `${tools} (${toolsFrom})`,
    failing ? broken : demo ? demonstration : ready,
  ];
  return (
    <>
      <Loaded pages={pages}>{(models) => <Table label={texts.tabs.models} columns={columns} rows={models.map(row)} />}</Loaded>
      <ModelCheck />
    </>
  );
}
