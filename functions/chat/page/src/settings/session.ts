// The end of a session: what the browser stores of a user is removed, and the page is loaded again.

import { forgetCredential } from "../api/credential.ts";
import { providerSignOutUrl } from "../api/session.ts";

/** Removes the key and the drafts of its owner, and reloads the page. */
function resetSession(): void {
  forgetCredential();
  sessionStorage.clear();
  history.replaceState(null, "", "#/");
  location.reload();
}

/** Removes the credential, and ends the session at the identity provider if there is one. */
export async function signOut(): Promise<void> {
  const url = await providerSignOutUrl();
  if (url === null) return resetSession();
  forgetCredential();
  sessionStorage.clear();
  location.assign(url);
}

/** Removes all data from the browser's storage, and reloads the page. */
export function resetAll(): void {
  localStorage.clear();
  resetSession();
}
