// The user's instructions for all answers, which the server keeps.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { request } from "../api/client.ts";
import { storedKey } from "../api/key.ts";
import { formatNumber, t } from "../i18n/index.ts";
import { Button } from "../view/controls.tsx";
import { failureText } from "../view/failures.ts";
import { showError } from "../view/toast.ts";
import { Section } from "./section.tsx";
import { texts } from "./texts.ts";

const PATH = "/api/me/instructions";

/** The longest text, in characters. */
const MAX_LENGTH = 4_000;

/** The section: the text, how long it is, and whether it is saved. What is not saved yet is saved when the settings close. */
export function Instructions() {
  const [stored, text, state, failure] = [useSignal<string | null>(null), useSignal(""), useSignal(""), useSignal("")];
  const fail = (thrown: unknown) => void (failure.value = failureText(thrown));
  const key = useRef(storedKey()).current;
  const saved = useRef(Promise.resolve());
  // One after the other, and never with the key of somebody else.
  const save = () => (saved.current = saved.current.catch(() => {}).then(async () => {
    const sent = text.value;
    if (storedKey() !== key || sent === stored.value) return;
    failure.value = "";
    await request("PUT", PATH, { text: sent });
    stored.value = sent;
    if (text.value === sent) state.value = texts.instructions.saved;
  }));
  useEffect(() => {
    request<{ text: string }>("GET", PATH).then((kept) => (stored.value = text.value = kept.text), fail);
    return () => {
      if (stored.value !== null && text.value !== stored.value) save().catch(showError);
    };
  }, []);
  const onInput = ({ currentTarget }: { currentTarget: HTMLTextAreaElement }) => void ([text.value, state.value] = [currentTarget.value, ""]);
  return (
    <Section id="settings-instructions" title={texts.instructions.title}>
      <p id="instructions-text">{texts.instructions.text}</p>
      <textarea
        id="instructions"
        rows={4}
        maxLength={MAX_LENGTH}
        dir="auto"
        placeholder={stored.value === null ? t.loading : texts.instructions.example}
        aria-label={texts.instructions.title}
        aria-describedby="instructions-text instructions-count"
        disabled={stored.value === null}
        value={text.value}
        onInput={onInput}
        onChange={() => void save().catch(fail)}
      />
      <div class="row instructions-row">
        <Button disabled={text.value === (stored.value ?? "")} onClick={() => void save().catch(fail)}>{texts.instructions.save}</Button>
        <span class="hint" role="status">{state}</span>
        <span class="hint" id="instructions-count">{`${formatNumber(text.value.length)} / ${formatNumber(MAX_LENGTH)}`}</span>
      </div>
      <p class="field-error" role="alert">{failure}</p>
    </Section>
  );
}
