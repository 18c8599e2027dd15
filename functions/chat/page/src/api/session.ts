// The signed-in user's session: stored in the tab or on the device, and renewed before it expires.

import { authorizationUrl, exchangeCode, randomText, refreshTokens, signOutUrl, SignInError } from "./oidc.ts";
import type { Pending, SignIn, Tokens } from "./oidc.ts";

const NAME = "session";
const PENDING = "sign-in";

/** A token is renewed when it has less than this left. */
const MARGIN_MS = 60_000;

interface Session extends Tokens {
  signIn: SignIn;
}

interface StoredPending extends Pending {
  signIn: SignIn;
  keep: boolean;
  hash: string;
}

function read<T>(storage: Storage, name: string): T | null {
  try {
    return JSON.parse(storage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

const session = () => read<Session>(sessionStorage, NAME) ?? read<Session>(localStorage, NAME);

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
  sessionStorage.removeItem(NAME);
  localStorage.removeItem(NAME);
}

function store(value: Session, keep: boolean): void {
  endSession();
  (keep ? localStorage : sessionStorage).setItem(NAME, JSON.stringify(value));
}

/** Leaves the page for the provider. Throws a `SignInError` if the provider cannot be used. */
export async function beginSignIn(signIn: SignIn, keep: boolean): Promise<void> {
  const pending: StoredPending = {
    state: randomText(),
    nonce: randomText(),
    verifier: randomText(),
    signIn,
    keep,
    hash: location.hash,
  };
  const url = await authorizationUrl(signIn, pending);
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  location.assign(url);
}

/** Whether the page's address is a redirect from a provider. */
export function isRedirect(): boolean {
  const query = new URLSearchParams(location.search);
  return query.has("state") && (query.has("code") || query.has("error"));
}

/** Completes the sign-in of a redirect and restores the address. Resolves to the failure, or null. */
export async function completeSignIn(): Promise<SignInError | null> {
  const query = new URLSearchParams(location.search);
  const pending = read<StoredPending>(sessionStorage, PENDING);
  sessionStorage.removeItem(PENDING);
  history.replaceState(null, "", `${location.pathname}${pending?.hash ?? ""}`);
  try {
    if (pending === null) throw new SignInError("mismatch");
    const tokens = await exchangeCode(pending.signIn, query, pending);
    store({ ...tokens, signIn: pending.signIn }, pending.keep);
    return null;
  } catch (error) {
    return error instanceof SignInError ? error : new SignInError("invalid");
  }
}

/** Renews a session that is about to expire; a failure is left to the request, whose token may still be valid. */
export async function renewIfDue(): Promise<void> {
  const current = session();
  if (current && current.refreshToken !== undefined && current.expiresAt - Date.now() < MARGIN_MS) {
    await renewSession(current.token);
  }
}

/** Replaces the token `used` by a new one. Resolves to whether there is another token now. */
export async function renewSession(used: string): Promise<boolean> {
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
