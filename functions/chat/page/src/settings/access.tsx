// The access section of the settings: who the caller is, and the key.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { credential, isCredentialKept, isSignedIn, keepCredential, promptForCredential, readAuthentication } from "../api/credential.ts";
import { formatList, t } from "../i18n/index.ts";
import { Button } from "../view/controls.tsx";
import { failureText } from "../view/failures.ts";
import { readAccount, type Account } from "./account.ts";
import { Section } from "./section.tsx";
import { signOut } from "./session.ts";
import { texts } from "./texts.ts";

type OnAccount = (account: Account) => void;

/** The section; hidden while the server needs no credential and none is stored. `onAccount` receives the caller. */
export function Access({ onAccount }: { onAccount: OnAccount }) {
  const isNeeded = useSignal(credential() !== null);
  const signsIn = useSignal(false);
  const account = useSignal<string[]>([]);
  useEffect(() => {
    const load = async () => {
      const authentication = await readAuthentication();
      if (authentication && authentication.mode !== "none") isNeeded.value = true;
      signsIn.value = authentication?.signIn !== undefined;
      if (credential() !== null || authentication?.mode === "none") account.value = await readTexts(onAccount);
    };
    void load();
  }, []);
  return (
    <Section id="settings-access" title={texts.access} hidden={!isNeeded.value}>
      {account.value.map((text) => <p key={text} class="account">{text}</p>)}
      <div class="access"><Credential signsIn={signsIn.value} /></div>
    </Section>
  );
}

/** Who the caller is, in sentences, or why that is not known. */
async function readTexts(onAccount: OnAccount): Promise<string[]> {
  try {
    const account = await readAccount();
    onAccount(account);
    const { user, name = user, groups = [], admin } = account;
    return [admin ? texts.administrator(name) : texts.account(name), ...(groups.length > 0 ? [texts.groups(formatList(groups))] : [])];
  } catch (thrown) {
    return [failureText(thrown)];
  }
}

/** What the tab or the device keeps, in a sentence. */
function stateText(kept: boolean): string {
  if (isSignedIn()) return kept ? texts.keptDevice : texts.keptTab;
  return kept ? texts.keyDevice : texts.keyTab;
}

/** The credential; `signsIn` is whether users sign in at an identity provider. */
function Credential({ signsIn }: { signsIn: boolean }) {
  const has = useSignal(credential() !== null);
  const isKept = useSignal(isCredentialKept());
  const change = async () => {
    await promptForCredential(false);
    has.value = credential() !== null;
    isKept.value = isCredentialKept();
  };
  const keep = (kept: boolean) => {
    keepCredential(kept);
    isKept.value = kept;
  };
  if (!has.value) {
    return (
      <>
        <p>{signsIn ? texts.signedOut : texts.noKey}</p>
        <Button icon="key" onClick={() => void change()}>{signsIn ? t.signIn.submit : texts.addKey}</Button>
      </>
    );
  }
  return (
    <>
      <p>{stateText(isKept.value)}</p>
      <label class="check" for="settings-keep">
        <input
          type="checkbox"
          id="settings-keep"
          checked={isKept.value}
          aria-describedby="settings-keep-hint"
          onChange={({ currentTarget }) => keep(currentTarget.checked)}
        />
        {t.key.keep}
      </label>
      <p class="hint" id="settings-keep-hint">{t.key.keepHint}</p>
      <div class="row">
        {!isSignedIn() && <Button icon="key" onClick={() => void change()}>{texts.changeKey}</Button>}
        <Button kind="risky" onClick={() => void signOut()}>{isSignedIn() ? texts.signOut : texts.forgetKey}</Button>
      </div>
    </>
  );
}
