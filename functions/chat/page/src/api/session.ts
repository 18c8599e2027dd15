// The signed-in user's session: stored in the tab or on the device, and renewed before it expires.

import {
  authorizationUrl,
  exchangeCode,
  loginHint,
  randomText,
  refreshTokens,
  requestsOffline,
  signOutUrl,
  SignInError,
  subjectOf,
} from "./oidc.ts";
import type { Pending, SignIn, Tokens } from "./oidc.ts";

const NAME = "session";
const PENDING = "sign-in";

/** The user of the session that ended last in this tab. */
const SUBJECT = "subject";

/** Present on a device whose provider gives refresh tokens only with the user's consent. */
const CONSENT = "consent";

/** A token is renewed when it has less than this left. */
const MARGIN_MS = 60_000;

interface Session extends Tokens {
  signIn: SignIn;
}

interface StoredPending extends Pending {
  signIn: SignIn;
  keep: boolean;
  hash: string;
  silent: boolean;
  consent: boolean;
}

const leaveListeners = new Set<() => void>();

/** Calls `listener` when the page is about to leave for the provider. */
export function onLeave(listener: () => void): void {
  leaveListeners.add(listener);
}

function read<T>(storage: Storage, name: string): T | null {
  try {
    return JSON.parse(storage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

const session = () => read<Session>(sessionStorage, NAME) ?? read<Session>(localStorage, NAME);

function currentSubject(): string | null {
  const current = session();
  return current && subjectOf(current);
}

/** The token to send, or null while nobody is signed in. */
export const sessionToken = () => session()?.token ?? null;

/** Whether the session is kept on the device. */
export const isSessionKept = () => sessionStorage.getItem(NAME) === null && localStorage.getItem(NAME) !== null;

/** Moves the session to the device, or back to this tab. */
export function keepSession(keep: boolean): void {
  const current = session();
  if (current) store(current, keep);
}

/** Removes the session from this tab and from the device. */
export function endSession(): void {
  const subject = currentSubject();
  if (subject !== null) sessionStorage.setItem(SUBJECT, subject);
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}

function store(value: Session, keep: boolean): void {
  endSession();
  (keep ? localStorage : sessionStorage).setItem(NAME, JSON.stringify(value));
}

/**
 * Leaves the page for the provider, which shows nothing if `silent`. Throws a `SignInError` if it cannot be used.
 *
 * OpenID Connect Core 1.0, section 11: a refresh token that outlives the sign-in may need `prompt=consent`. It is sent
 * only where no refresh token came without it, because other providers show an administrator's approval for it.
 */
export async function beginSignIn(signIn: SignIn, keep: boolean, silent = false): Promise<void> {
  const current = session();
  const consent = !silent && requestsOffline(signIn) && localStorage.getItem(CONSENT) !== null;
  const pending: StoredPending = {
    state: randomText(),
    nonce: randomText(),
    verifier: randomText(),
    signIn,
    keep,
    hash: location.hash,
    silent,
    consent,
  };
  const prompt = silent ? { prompt: "none", ...(current && loginHint(current)) } : consent ? { prompt: "consent" } : {};
  const url = await authorizationUrl(signIn, pending, prompt);
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  for (const listener of leaveListeners) listener();
  location.assign(url);
}

/** Whether the page has left for the provider and was not called back. */
export const isSignInPending = () => sessionStorage.getItem(PENDING) !== null;

/** Whether the page's address is a redirect from a provider. */
export function isRedirect(): boolean {
  const query = new URLSearchParams(location.search);
  return query.has("state") && (query.has("code") || query.has("error"));
}

/**
 * Completes the sign-in of a redirect and restores the address. Resolves to the failure, or null.
 *
 * A silent sign-in that failed leaves the session as it was, which is no failure: the next request shows whether it lasts.
 */
export async function completeSignIn(): Promise<SignInError | null> {
  const query = new URLSearchParams(location.search);
  const pending = read<StoredPending>(sessionStorage, PENDING);
  sessionStorage.removeItem(PENDING);
  history.replaceState(null, "", `${location.pathname}${pending?.hash ?? ""}`);
  try {
    if (pending === null) throw new SignInError("mismatch");
    const tokens = await exchangeCode(pending.signIn, query, pending);
    const before = currentSubject() ?? sessionStorage.getItem(SUBJECT);
    if (before !== null && before !== subjectOf(tokens)) {
      if (pending.silent) return null;
      // The drafts and the unsent message of this tab are another user's.
      sessionStorage.clear();
    }
    if (requestsOffline(pending.signIn) && tokens.refreshToken === undefined) {
      if (pending.consent) localStorage.removeItem(CONSENT);
      else localStorage.setItem(CONSENT, "1");
    }
    store({ ...tokens, signIn: pending.signIn }, pending.keep);
    return null;
  } catch (error) {
    if (pending?.silent) return null;
    return error instanceof SignInError ? error : new SignInError("invalid");
  }
}

/**
 * Renews a session that is about to expire, by a silent sign-in only if the page `mayLeave`. A failure is left to the
 * request, whose token may still be valid.
 */
export async function renewIfDue(mayLeave: boolean): Promise<void> {
  const current = session();
  if (current && current.expiresAt - Date.now() < MARGIN_MS) await renewSession(current.token, mayLeave);
}

/** Replaces the token `used` by a new one. Resolves to whether there is another token now; never if the page leaves. */
export async function renewSession(used: string, mayLeave: boolean): Promise<boolean> {
  if (await exchangeRefreshToken(used)) return true;
  const current = session();
  if (current === null || !mayLeave) return false;
  return beginSignIn(current.signIn, isSessionKept(), true).then(
    () => new Promise<never>(() => {}),
    () => false,
  );
}

async function exchangeRefreshToken(used: string): Promise<boolean> {
  const renew = async () => {
    const current = session();
    if (current === null) return false;
    // Another request or another tab has renewed it in the meantime.
    if (current.token !== used) return true;
    if (current.refreshToken === undefined) return false;
    try {
      store({ ...(await refreshTokens(current.signIn, current)), signIn: current.signIn }, isSessionKept());
      return true;
    } catch {
      return false;
    }
  };
  // A provider may accept a refresh token only once, so all tabs take turns.
  return navigator.locks ? navigator.locks.request("renew-session", renew) : renew();
}

/** The address that ends the provider's session too; null if it has none or cannot be reached. */
export async function providerSignOutUrl(): Promise<string | null> {
  const current = session();
  if (current === null) return null;
  return signOutUrl(current.signIn, current.idToken).catch(() => null);
}
