// An OpenID Connect provider on loopback: `oidc-provider` with a sign-in form of one field.

import { once } from "node:events";
import { createServer } from "node:http";

import Provider from "oidc-provider";

/** The page's id at the provider. */
export const CLIENT_ID = "page";

/** Settings of a server that accepts the provider's ID tokens, or its access tokens for another audience. */
export const settingsFor = (issuer, { audience = CLIENT_ID, ...more } = {}) => ({
  ...more,
  AUTH: "jwt",
  AUTH_JWT_ISSUER: issuer,
  AUTH_JWT_AUDIENCE: audience,
  AUTH_JWT_CLIENT_ID: CLIENT_ID,
});

/** Opens a provider. It has no client before `register`, because the page's address is not known yet. */
export async function openIdentityProvider() {
  let handle = null;
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${server.address().port}`;
  /** The grants of the token endpoint, and the prompts of the authorization endpoint, in order. */
  const [grants, prompts] = [[], []];
  const register = (pageUrl, options = {}) => {
    const provider = new Provider(issuer, configuration(`${pageUrl}/`, options));
    provider.on("grant.success", (context) => grants.push(context.oidc.params.grant_type));
    const pass = handler(provider);
    handle = (incoming, outgoing) => {
      const { pathname, searchParams } = new URL(incoming.url, issuer);
      if (pathname === "/auth") prompts.push(searchParams.get("prompt"));
      return pass(incoming, outgoing);
    };
  };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { issuer, register, grants, prompts, close };
}

/** `refresh` is `always`, `never`, or `consent`: as the standard has it, with `offline_access` and the user's consent. */
function configuration(redirectUri, { lifetime = 3600, refresh = "always", claims = {} }) {
  return {
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: "none",
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
    ],
    clientBasedCORS: () => true,
    pkce: { required: () => true },
    ...(refresh !== "consent" && { issueRefreshToken: () => refresh === "always" }),
    rotateRefreshToken: true,
    ttl: { IdToken: lifetime, AccessToken: lifetime, RefreshToken: 86_400, Session: 86_400, Grant: 86_400, Interaction: 3600 },
    cookies: { keys: ["test"] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { logoutSource: showSignOut } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    claims: { openid: ["sub", ...Object.keys(claims)] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...claims }) }),
    // The user's consent is taken for granted.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid offline_access");
      await grant.save();
      return grant;
    },
  };
}

/** The page on which the user confirms a sign-out. */
function showSignOut(context, form) {
  const confirm = '<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>';
  context.body = `<!doctype html><html lang="en"><title>Identity</title>${form}${confirm}</html>`;
}

const FORM = `<!doctype html><html lang="en"><title>Identity</title><form method="post">
<label>Name <input name="name"></label><button>Continue</button><button name="cancel" value="1">Refuse</button></form></html>`;

/** Answers the sign-in form; everything else is the provider's. */
function handler(provider) {
  const callback = provider.callback();
  return async (incoming, outgoing) => {
    if (!incoming.url.startsWith("/interaction/")) return callback(incoming, outgoing);
    if (incoming.method === "GET") {
      outgoing.writeHead(200, { "content-type": "text/html" });
      return outgoing.end(FORM);
    }
    let text = "";
    for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
    const fields = new URLSearchParams(text);
    const result = fields.has("cancel") ? { error: "access_denied" } : { login: { accountId: fields.get("name") }, consent: {} };
    return provider.interactionFinished(incoming, outgoing, result, { mergeWithLastSubmission: false });
  };
}
