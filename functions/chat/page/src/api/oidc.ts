// The authorisation code flow with PKCE (RFC 7636, S256) at an OpenID Connect provider, as a public client.
//
// The server verifies the signature and the expiry of each token that it accepts. A token that comes directly from the
// token endpoint needs no verified signature here (OpenID Connect Core 1.0, section 3.1.3.7, item 6).

/** The page's registration at the identity provider, as `GET /api/auth` shows it. */
export interface SignIn {
  issuer: string;
  clientId: string;
  /** The audience of accepted tokens. If it is the client's id, the page sends ID tokens, else access tokens. */
  audience: string;
  /** The scopes to request, with a space between them. */
  scope: string;
}

/** The tokens of a signed-in user. */
export interface Tokens {
  /** What the page sends to the server. */
  token: string;
  /** When it expires by this device's clock, in milliseconds since 1970. */
  expiresAt: number;
  idToken?: string;
  refreshToken?: string;
}

/** What a redirect must match; stored in the tab while the user is at the provider. */
export interface Pending {
  state: string;
  nonce: string;
  verifier: string;
}

export type SignInFailure = "cancelled" | "mismatch" | "unreachable" | "insecure" | "invalid" | "refused";

/** A failed sign-in. `detail` is the provider's error code, such as `invalid_grant`. */
export class SignInError extends Error {
  readonly failure: SignInFailure;
  readonly detail: string;

  constructor(failure: SignInFailure, detail = "") {
    super(failure);
    this.name = "SignInError";
    this.failure = failure;
    this.detail = detail;
  }

  /** The error for a code of the provider. Only codes in the form of RFC 6749 are shown. */
  static ofCode(code: unknown): SignInError {
    const detail = typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : "";
    return new SignInError(detail === "access_denied" ? "cancelled" : "refused", detail);
  }
}

interface Metadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  end_session_endpoint?: string;
}

interface TokenResponse {
  access_token?: string;
  id_token?: string;
  refresh_token?: string;
  expires_in?: number;
}

const TIMEOUT_MS = 15_000;

/** The lifetime of a token whose response names none, in seconds. */
const DEFAULT_LIFETIME = 300;

/** The page's address, which is registered as the redirect URI. */
export const redirectUri = () => `${location.origin}${location.pathname}`;

/** A URL-safe text of 256 random bits. */
export const randomText = () => base64Url(crypto.getRandomValues(new Uint8Array(32)));

/** Reads the provider's discovery document. */
export async function discover({ issuer }: SignIn): Promise<Metadata> {
  const metadata = await fetchJson<Metadata>(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (metadata.issuer !== issuer || !metadata.authorization_endpoint || !metadata.token_endpoint) {
    throw new SignInError("invalid");
  }
  return metadata;
}

/** The address at which the user signs in; `extra` are further parameters. */
export async function authorizationUrl(
  signIn: SignIn,
  { state, nonce, verifier }: Pending,
  extra: Record<string, string>,
): Promise<string> {
  const { audience, clientId } = signIn;
  if (!globalThis.crypto?.subtle) throw new SignInError("insecure");
  const { authorization_endpoint } = await discover(signIn);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return withQuery(authorization_endpoint, {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri(),
    scope: signIn.scope,
    // Auth0 makes access tokens for the audience named so; other providers ignore it.
    ...(audience !== clientId && { audience }),
    state,
    nonce,
    code_challenge: base64Url(new Uint8Array(hash)),
    code_challenge_method: "S256",
    ...extra,
  });
}

/** Exchanges the code of a redirect for tokens; throws if the redirect does not answer the pending sign-in. */
export async function exchangeCode(signIn: SignIn, query: URLSearchParams, pending: Pending | null): Promise<Tokens> {
  if (pending === null || query.get("state") !== pending.state) throw new SignInError("mismatch");
  // RFC 9207: the provider names itself, so another provider's code is not sent to this one.
  if ((query.get("iss") ?? signIn.issuer) !== signIn.issuer) throw new SignInError("mismatch");
  const code = query.get("code");
  if (code === null) throw SignInError.ofCode(query.get("error"));
  const response = await requestTokens(signIn, {
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri(),
    code_verifier: pending.verifier,
  });
  if (claims(response.id_token).nonce !== pending.nonce) throw new SignInError("invalid");
  return toTokens(signIn, response);
}

/** Exchanges a refresh token for new tokens. */
export async function refreshTokens(signIn: SignIn, old: Tokens): Promise<Tokens> {
  if (old.refreshToken === undefined) throw new SignInError("refused", "no_refresh_token");
  const response = await requestTokens(signIn, { grant_type: "refresh_token", refresh_token: old.refreshToken });
  const { idToken, refreshToken } = old;
  return { ...(idToken && { idToken }), refreshToken, ...toTokens(signIn, response) };
}

/** Whether the page requests a refresh token that outlives the sign-in. */
export const requestsOffline = ({ scope }: SignIn) => scope.split(" ").includes("offline_access");

/** The user of the tokens at the provider; null if no ID token names it. */
export const subjectOf = ({ idToken }: Tokens) => (idToken && claims(idToken).sub) || null;

/** What helps the provider to find the user's session among several; empty if the ID token has nothing. */
export function loginHint({ idToken }: Tokens): Record<string, string> {
  const { login_hint, preferred_username, email } = idToken ? claims(idToken) : {};
  const hint = login_hint ?? preferred_username ?? email;
  return hint ? { login_hint: hint } : {};
}

/** The address at which the provider ends its own session; null if it has none. */
export async function signOutUrl(signIn: SignIn, idToken: string | undefined): Promise<string | null> {
  const { end_session_endpoint } = await discover(signIn);
  if (!end_session_endpoint) return null;
  return withQuery(end_session_endpoint, {
    client_id: signIn.clientId,
    post_logout_redirect_uri: redirectUri(),
    // Amazon Cognito's name of it. https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html, 2026-11-26.
    logout_uri: redirectUri(),
    ...(idToken && { id_token_hint: idToken }),
  });
}

async function requestTokens(signIn: SignIn, grant: Record<string, string>): Promise<TokenResponse> {
  const { token_endpoint } = await discover(signIn);
  const body = new URLSearchParams({ ...grant, client_id: signIn.clientId });
  return fetchJson<TokenResponse>(token_endpoint, { method: "POST", body });
}

function toTokens({ issuer, clientId, audience }: SignIn, response: TokenResponse): Tokens {
  const { access_token, id_token, refresh_token, expires_in } = response;
  if (id_token !== undefined) {
    const { iss, aud } = claims(id_token);
    if (iss !== issuer || ![aud].flat().includes(clientId)) throw new SignInError("invalid");
  }
  const token = audience === clientId ? id_token : access_token;
  if (token === undefined) throw new SignInError("invalid");
  const { iat, exp } = audience === clientId ? claims(token) : {};
  // The lifetime counts from now, because this device's clock may be wrong.
  const lifetime = iat !== undefined && exp !== undefined ? exp - iat : (expires_in ?? DEFAULT_LIFETIME);
  return {
    token,
    expiresAt: Date.now() + lifetime * 1000,
    ...(id_token && { idToken: id_token }),
    ...(refresh_token && { refreshToken: refresh_token }),
  };
}

interface Claims {
  iss?: string;
  sub?: string;
  aud?: string | string[];
  nonce?: string;
  iat?: number;
  exp?: number;
  login_hint?: string;
  preferred_username?: string;
  email?: string;
}

/** The claims of a JWT (RFC 7519) without verifying them. */
function claims(jwt: string | undefined): Claims {
  try {
    const payload = (jwt ?? "").split(".")[1] ?? "";
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    throw new SignInError("invalid");
  }
}

async function fetchJson<T>(url: string, options: RequestInit = {}): Promise<T> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const init: RequestInit = { ...options, signal, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" };
  const response = await fetch(url, init).catch(() => Promise.reject(new SignInError("unreachable")));
  const body = await response.json().catch(() => null);
  if (!response.ok) throw response.status >= 500 ? new SignInError("unreachable") : SignInError.ofCode(Object(body).error);
  if (body === null || typeof body !== "object") throw new SignInError("invalid");
  return body;
}

function withQuery(address: string, values: Record<string, string>): string {
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw new SignInError("invalid");
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return url.href;
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
