// The tools of an agent: all built-in ones, or a list with fixed arguments and direct results.

import { signal, type Signal } from "@preact/signals";

import { parseJson } from "./form.tsx";
import { texts } from "./texts.ts";

export interface Binding {
  tool: string;
  enabled?: boolean;
  config?: object;
  direct?: boolean;
}

/** A tool of the list, with what its controls hold. */
interface BindingRow {
  old: Binding;
  isUsed: boolean;
  isDirect: boolean;
  config: string;
}

/** The state of the controls. */
interface BindingState {
  isAll: Signal<boolean>;
  rows: BindingRow[];
}

/** The rows of the bound tools, and of the other ones. */
export function bindingRows(names: string[], bindings: Binding[] | null): BindingState {
  const bound = bindings ?? [];
  const others = names.filter((name) => bound.every(({ tool }) => tool !== name)).map((tool): Binding => ({ tool, enabled: false }));
  const rows = [...bound, ...others].map((old) => ({
    old,
    isUsed: old.enabled !== false,
    isDirect: old.direct ?? false,
    config: old.config ? JSON.stringify(old.config) : "",
  }));
  return { isAll: signal(bindings === null), rows };
}

export function Bindings({ isAll, rows }: BindingState) {
  const check = (checked: boolean, label: string, onCheck: (checked: boolean) => void, id?: string) => (
    <label class="check">
      <input type="checkbox" id={id} defaultChecked={checked} onChange={({ currentTarget }) => onCheck(currentTarget.checked)} />
      {label}
    </label>
  );
  const item = (row: BindingRow) => {
    const label = texts.agents.config(row.old.tool);
    return (
      <li key={row.old.tool}>
        {check(row.isUsed, row.old.tool, (checked) => (row.isUsed = checked))}
        {check(row.isDirect, texts.agents.direct, (checked) => (row.isDirect = checked))}
        <input
          type="text"
          class="code-input"
          placeholder="{}"
          aria-label={label}
          title={label}
          defaultValue={row.config}
          onInput={({ currentTarget }) => (row.config = currentTarget.value.trim())}
        />
      </li>
    );
  };
  return (
    <div class="bindings">
      {check(isAll.value, texts.agents.allTools, (checked) => (isAll.value = checked), "agent-all-tools")}
      <ul hidden={isAll.value}>{rows.map(item)}</ul>
    </div>
  );
}

/** The bindings that the controls hold; undefined for all built-in tools. */
export function readBindings({ isAll, rows }: BindingState): Binding[] | undefined {
  if (isAll.value) return undefined;
  return rows.filter(({ isUsed }) => isUsed).map(({ old, isDirect, config }) => {
    const { config: _config, direct: _direct, ...rest } = old;
    const fixed = config && parseJson(texts.agents.config(old.tool), config);
    return { ...rest, enabled: true, ...(isDirect && { direct: true }), ...(fixed && { config: fixed }) };
  });
}
