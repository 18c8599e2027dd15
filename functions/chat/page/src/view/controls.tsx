// The elements that components have in common: icons, buttons, choices.

import type { JSX } from "preact";
import { t } from "../i18n/index.ts";
import { copyText, flash, type IconName } from "./dom.ts";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "icon">;

/** An icon from the document's sprite. It is decorative, so it is hidden from assistive technology. */
export function Icon({ name }: { name: IconName }) {
  return <svg class="icon" aria-hidden="true"><use href={`#icon-${name}`} /></svg>;
}

/** A button with a label and, with `icon`, an icon before it. `kind` is its CSS class. */
export function Button({ icon, kind = "quiet", children, ...rest }: ButtonProps & { icon?: IconName | undefined; kind?: string }) {
  return (
    <button type="button" class={`button ${kind}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with an icon only; `label` is its accessible name and its tooltip. */
export function IconButton({ icon, label, ...rest }: ButtonProps & { icon: IconName; label: string }) {
  return <button type="button" class="icon-button" aria-label={label} title={label} {...rest}><Icon name={icon} /></button>;
}

/** A button that copies a text. */
export function CopyButton({ text, onCopied, ...rest }: Parameters<typeof Button>[0] & { text: string; onCopied?: () => void }) {
  const copy = async (node: HTMLElement) => {
    await copyText(text);
    if (onCopied) onCopied();
    else flash(node, t.copied, t.copy);
  };
  return <Button icon="copy" onClick={({ currentTarget }) => void copy(currentTarget)} {...rest}>{t.copy}</Button>;
}

/** The options of a selection: value and label. */
export type Options = readonly (readonly [value: string, label: string])[];

/** The option elements of a selection. */
export function OptionList({ options, selected }: { options: Options; selected: string }) {
  return <>{options.map(([value, label]) => <option key={value} value={value} selected={value === selected}>{label}</option>)}</>;
}
