// Forms: groups of fields from a description, values as a record.

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

import { request } from "../api/client.ts";
import { Button, OptionList } from "../view/controls.tsx";
import { failureText } from "../view/failures.ts";
import { texts } from "./texts.ts";
import { form } from "./view.ts";

/** The choices that a form has at the moment. */
type Choices = Record<string, string>;

/** A field; `names` holds texts with commas between them, `json` a JSON text, and `node` shows other content. */
export type Field = { label: string; /** Whether it has a line for itself, as long texts have. */ isWide?: boolean; /** Whether the field is shown; a hidden field has no value. */ isShown?: (choices: Choices) => boolean } & (
  | { kind: "text" | "area" | "number"; value: string | number | null | undefined; required?: boolean; placeholder?: string }
  | { kind: "names"; value: string[] | null | undefined; placeholder?: string }
  | { kind: "json"; value: unknown; placeholder?: string }
  | { kind: "check"; value: boolean }
  | { kind: "select"; value: string; options: Record<string, string> }
  | { kind: "node"; content: ComponentChildren }
);

/** The values by name: texts, numbers, booleans, parsed JSON; undefined where a field is empty or hidden. */
export type Values = Record<string, unknown>;

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** What a form does. */
export interface FormSpec {
  id: string;
  submit?: string;
  /** The fields by the heading of their group; one without a heading has an empty one. */
  groups: Record<string, Record<string, Field>>;
  /** While it throws, the form shows the error's text. */
  onSubmit: (values: Values) => Promise<void>;
  /** Whether leaving the form with changes has to be confirmed. */
  isGuarded?: boolean;
}

/** The form of an item; after `save` the list is shown again. */
export interface ItemForm extends Omit<FormSpec, "onSubmit"> {
  title: string;
  save: (values: Values) => Promise<void>;
  extra?: ComponentChildren;
  /** Whether the form stays after it was submitted. */
  remains?: boolean;
}

/** A form. */
export function Form({ id, submit = texts.save, groups, onSubmit, isGuarded = false }: FormSpec) {
  const fields = Object.values(groups).flatMap(Object.entries) as [string, Field][];
  const choices = useSignal<Choices>(Object.fromEntries(fields.flatMap(([name, field]) => (field.kind === "select" ? [[name, field.value]] : []))));
  const [failure, isBusy] = [useSignal(""), useSignal(false)];
  const send = async () => {
    [failure.value, isBusy.value] = ["", true];
    try {
      await onSubmit(Object.fromEntries(fields.map(([name, field]) => [name, readField(`${id}-${name}`, field)])));
    } catch (thrown) {
      failure.value = failureText(thrown);
    }
    isBusy.value = false;
  };
  const onSend = (event: SubmitEvent) => {
    event.preventDefault();
    void send();
  };
  const onChange = () => void (form.isChanged ||= isGuarded);
  const isHidden = ({ isShown }: Field) => isShown?.(choices.value) === false;
  const row = ([name, field]: [string, Field]) => {
    const choose = (value: string) => (choices.value = { ...choices.value, [name]: value });
    return <Row key={name} id={`${id}-${name}`} field={field} hidden={isHidden(field)} onChoose={choose} />;
  };
  return (
    <form id={id} class="admin-form" onSubmit={onSend} onInput={onChange} onChange={onChange}>
      {Object.entries(groups).map(([title, members]) => (
        <fieldset key={title} hidden={Object.values(members).every(isHidden)}>
          {title && <legend>{title}</legend>}
          {Object.entries(members).map(row)}
        </fieldset>
      ))}
      <p class="field-error" role="alert">{failure}</p>
      <div class="actions"><Button type="submit" kind="primary" disabled={isBusy.value}>{submit}</Button></div>
    </form>
  );
}

interface RowProps {
  id: string;
  field: Field;
  hidden: boolean;
  onChoose: (value: string) => void;
}

function Row({ id, field, hidden, onChoose }: RowProps) {
  if (field.kind === "node") return <div class="admin-field wide" role="group" aria-label={field.label}>{field.content}</div>;
  if (field.kind === "check") {
    return (
      <label class="check" for={id} hidden={hidden}>
        <input type="checkbox" id={id} defaultChecked={field.value} />
        {field.label}
      </label>
    );
  }
  return (
    <div class={`admin-field${field.isWide || field.kind === "area" || field.kind === "json" ? " wide" : ""}`} hidden={hidden}>
      <label for={id}>{field.label}</label>
      <ControlOf id={id} field={field} onChoose={onChoose} />
    </div>
  );
}

function ControlOf({ id, field, onChoose }: { id: string; field: Exclude<Field, { kind: "node" | "check" }>; onChoose: RowProps["onChoose"] }) {
  if (field.kind === "select") {
    return (
      <select id={id} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <OptionList options={Object.entries(field.options)} selected={field.value} />
      </select>
    );
  }
  const attributes = { id, placeholder: field.placeholder, autocomplete: "off", spellcheck: field.kind === "area", defaultValue: initialText(field) };
  if (field.kind === "area" || field.kind === "json") return <textarea {...attributes} rows={4} class={field.kind === "json" ? "code-input" : ""} />;
  if (field.kind === "number") return <input {...attributes} type="number" min={0} required={field.required} />;
  return <input {...attributes} type="text" required={field.kind === "text" && field.required} />;
}

function initialText(field: Exclude<Field, { kind: "node" | "check" | "select" }>): string {
  // The API has null for what a row does not set.
  if (field.value === undefined || field.value === null) return "";
  if (field.kind === "names") return field.value.join(", ");
  return field.kind === "json" ? JSON.stringify(field.value, null, 2) : String(field.value);
}

function readField(id: string, field: Field): unknown {
  const control = document.getElementById(id) as Control | null;
  // Other content is not read by this form, and a hidden field has no value.
  if (control === null || control.closest("[hidden]")) return undefined;
  if (field.kind === "check") return (control as HTMLInputElement).checked;
  const text = control.value.trim();
  if (field.kind === "names") {
    // A name may contain a comma, such as that of a directory: unchanged names stay as they are.
    if (text === initialText(field)) return field.value ?? [];
    return text.split(/[,，、]/).map((name) => name.trim()).filter(Boolean);
  }
  if (text === "") return undefined;
  if (field.kind === "number") return Number(text);
  return field.kind === "json" ? parseJson(field.label, text) : text;
}

/** The value of a JSON text; the error names its field. */
export function parseJson(label: string, text: string) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(texts.invalidJson(label));
  }
}

/** Stores a document as a new row of a list, or in place of a row. */
export async function store(path: string, id: string | null, document: object): Promise<void> {
  await (id === null ? request("POST", path, document) : request("PUT", `${path}/${encodeURIComponent(id)}`, document));
}

/** A document without the fields that have no value. */
export function withoutEmpty(document: object): object {
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== undefined && value !== null));
}
