// A labelled choice of a dialog.

import { OptionList, type Options } from "../view/controls.tsx";

interface SelectProps {
  id: string;
  label: string;
  options: Options;
  selected: string;
  onSelect: (value: string) => void;
}

/** A labelled choice. */
export function Select({ id, label, options, selected, onSelect }: SelectProps) {
  return (
    <div class="setting">
      <label for={id}>{label}</label>
      <select id={id} onChange={({ currentTarget }) => onSelect(currentTarget.value)}><OptionList options={options} selected={selected} /></select>
    </div>
  );
}
