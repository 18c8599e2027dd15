// The access section of the settings: who the caller is, and the key.

import { readAccount, type Account } from "../api/account.ts";
import { ApiError } from "../api/client.ts";
import { errorText } from "../answer/strings.ts";
import {
  credential,
  isCredentialKept,
  isSignedIn,
  keepCredential,
  promptForCredential,
  readAuthentication,
} from "../api/credential.ts";
import { t } from "../i18n/index.ts";
import { button, el } from "../view/dom.ts";

/** Whether users sign in at an identity provider. */
let signsIn = false;

/** What the section needs of the page. */
export interface AccessActions {
  /** Removes the credential and everything that belongs to its owner from this tab. */
  onForget: () => void;
  /** Called after another key is in use. */
  onChanged: () => void;
}

/** The section; hidden while the server needs no credential and none is stored. `onAccount` receives the caller. */
export function accessSection(actions: AccessActions, onAccount: (account: Account) => void): HTMLElement {
  const content = el("div", { class: "access" });
  const heading = el("h3", { id: "settings-access" }, t.settings.access);
  const section = el("section", { "aria-labelledby": "settings-access", hidden: credential() === null }, heading, content);
  const show = () => content.replaceChildren(...controls(actions, show));
  show();
  void showAccount(section, heading, show, onAccount);
  return section;
}

/** Adds the caller's name; a server without authentication has none to show. */
async function showAccount(
  section: HTMLElement,
  heading: HTMLElement,
  show: () => void,
  onAccount: (account: Account) => void,
): Promise<void> {
  const authentication = await readAuthentication();
  if (authentication !== null && authentication.mode !== "none") section.hidden = false;
  signsIn = authentication?.signIn !== undefined;
  show();
  if (credential() === null && authentication?.mode !== "none") return;
  const text = await readAccount().then(
    (account) => {
      onAccount(account);
      return account.admin ? t.settings.administrator(account.user) : t.settings.account(account.user);
    },
    (thrown: unknown) => errorText(ApiError.from(thrown)),
  );
  heading.after(el("p", { class: "account" }, text));
}

/** What the tab or the device keeps, in a sentence. */
function stateText(kept: boolean): string {
  if (isSignedIn()) return kept ? t.signIn.keptDevice : t.signIn.keptTab;
  return kept ? t.settings.keyDevice : t.settings.keyTab;
}

function controls({ onForget, onChanged }: AccessActions, show: () => void): HTMLElement[] {
  const change = async () => {
    if (!(await promptForCredential(false))) return;
    show();
    onChanged();
  };
  if (credential() === null) {
    const [state, label] = signsIn ? [t.signIn.signedOut, t.signIn.submit] : [t.settings.noKey, t.settings.addKey];
    return [el("p", {}, state), button(label, () => void change(), { iconName: "key" })];
  }
  const state = el("p", {}, stateText(isCredentialKept()));
  const keep = el("input", { type: "checkbox", id: "settings-keep", checked: isCredentialKept(), "aria-describedby": "settings-keep-hint" });
  keep.addEventListener("change", () => {
    keepCredential(keep.checked);
    state.textContent = stateText(keep.checked);
  });
  return [
    state,
    el("label", { class: "check", for: "settings-keep" }, keep, t.settings.keep),
    el("p", { class: "hint", id: "settings-keep-hint" }, t.settings.keepHint),
    el(
      "div",
      { class: "row" },
      isSignedIn() ? [] : button(t.settings.changeKey, () => void change(), { iconName: "key" }),
      button(isSignedIn() ? t.signIn.signOut : t.settings.forgetKey, onForget, { kind: "risky" }),
    ),
  ];
}
