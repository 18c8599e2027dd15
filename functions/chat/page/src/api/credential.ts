// The credential of requests: the token of a signed-in user, else a key. Requests one when the server needs it.

import { t } from "../i18n/index.ts";
import { openDialog } from "../view/dialog.ts";
import { el } from "../view/dom.ts";
import { forgetKey, isKept, keepKey, notifyKeyChange, promptForKey, storedKey } from "./key.ts";
import { SignInError, type SignIn } from "./oidc.ts";
import { beginSignIn, endSession, isSessionKept, keepSession, renewIfDue, sessionToken } from "./session.ts";

/** How the server authenticates; `signIn` if users sign in at an identity provider. */
export interface Authentication {
  mode: "none" | "api_key" | "jwt";
  signIn?: SignIn;
  /** Whether the server is a function on AWS Lambda. */
  onLambda?: boolean;
}

const TIMEOUT_MS = 15_000;

let authentication: Promise<Authentication | null> | null = null;
let failure: SignInError | null = null;
let prompt: Promise<boolean> | null = null;

/** Reads how the server authenticates, once; null if it cannot be read. */
export function readAuthentication(): Promise<Authentication | null> {
  authentication ??= fetch("./api/auth", { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then((response) => (response.ok ? response.json() : null))
    .catch(() => null)
    .then((result) => {
      if (result === null) authentication = null;
      return result;
    });
  return authentication;
}

/** The token or the key to send, or null. */
export const credential = () => sessionToken() ?? storedKey();

/** The credential after a renewal, if one is due; for a silent sign-in the page leaves only if it may. */
export async function freshCredential(mayLeave: boolean): Promise<string | null> {
  if (sessionToken() !== null) await renewIfDue(mayLeave);
  return credential();
}

/** Whether somebody is signed in at an identity provider. */
export const isSignedIn = () => sessionToken() !== null;

/** Whether the credential is kept on the device. */
export const isCredentialKept = () => (isSignedIn() ? isSessionKept() : isKept());

/** Moves the credential to the device, or back to this tab. */
export function keepCredential(keep: boolean): void {
  if (isSignedIn()) keepSession(keep);
  else keepKey(keep);
}

/** Removes the credential from this tab and from the device. */
export function forgetCredential(): void {
  endSession();
  forgetKey();
}

/** Removes a credential that the server rejected, unless another one is in use by now. */
export function rejectCredential(used: string): void {
  if (sessionToken() === used) {
    endSession();
    notifyKeyChange();
  } else if (storedKey() === used) forgetKey();
}

/** Shows the failure of the last redirect when the user is next prompted. */
export function reportFailure(error: SignInError): void {
  failure = error;
}

/**
 * Prompts for a credential: a sign-in, which leaves the page, or a key. Concurrent calls share one dialog.
 *
 * Resolves to whether the user gave one.
 */
export async function promptForCredential(rejected: boolean): Promise<boolean> {
  const signIn = (await readAuthentication())?.signIn;
  if (!signIn) return promptForKey(rejected);
  prompt ??= promptForSignIn(signIn).finally(() => {
    prompt = null;
  });
  return prompt;
}

async function promptForSignIn(signIn: SignIn): Promise<boolean> {
  const keep = el("input", { type: "checkbox", "aria-describedby": "sign-in-keep-hint" });
  const error = failure ? failureText(failure) : "";
  failure = null;
  await openDialog({
    id: "sign-in-dialog",
    title: t.signIn.title,
    body: [el("p", {}, t.signIn.text(new URL(signIn.issuer).host))],
    controls: [
      el("label", { class: "check" }, keep, t.key.keep),
      el("p", { class: "hint", id: "sign-in-keep-hint" }, t.key.keepHint),
    ],
    submit: { label: t.signIn.submit },
    error,
    onSubmit: async () => {
      try {
        await beginSignIn(signIn, keep.checked);
      } catch (thrown) {
        throw new Error(failureText(thrown instanceof SignInError ? thrown : new SignInError("invalid")));
      }
      // The browser is about to leave the page.
      await new Promise(() => {});
    },
  });
  return false;
}

function failureText({ failure, detail }: SignInError): string {
  const text = t.signIn.problems[failure];
  return typeof text === "function" ? text(detail) : text;
}
