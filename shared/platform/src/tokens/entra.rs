use std::time::SystemTime;

use secrecy::ExposeSecret;

use super::{CredentialError, Timed, read_file, request_grant};
use crate::secrets::Secret;
use crate::settings::{SettingError, Settings};
use crate::transport::{Client, is_protected};

const CLIENT_SECRET: &str = "AZURE_CLIENT_SECRET";
const TOKEN_FILE: &str = "AZURE_FEDERATED_TOKEN_FILE";

// https://learn.microsoft.com/azure/ai-foundry/openai/how-to/managed-identity, 2026-11-26.
const SCOPE: &str = "https://cognitiveservices.azure.com/.default";

/// An application of Entra ID, which gets tokens by client credentials.
#[derive(Debug)]
pub(super) struct Entra {
    url: String,
    client_id: String,
    proof: Proof,
}

#[derive(Debug)]
enum Proof {
    Secret(Secret),
    /// The path of a token of another issuer. It is read each time, because its owner replaces it.
    TokenFile(String),
}

impl Entra {
    /// Reads the settings; `None` if one of tenant, client and proof is missing.
    pub(super) fn from_settings(settings: &Settings) -> Result<Option<Self>, SettingError> {
        let secret = Secret::from_settings(settings, CLIENT_SECRET)?.map(Proof::Secret);
        let proof = secret.or_else(|| settings.var(TOKEN_FILE).map(|path| Proof::TokenFile(path.to_owned())));
        let is_tenant = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let tenant = |text: &str| is_tenant(text).then(|| text.to_owned());
        let tenant = settings.parse("AZURE_TENANT_ID", "the id or the domain of a tenant", tenant)?;
        let authority = |text: &str| is_protected(text).then(|| text.trim_end_matches('/').to_owned());
        let authority = settings.parse("AZURE_AUTHORITY_HOST", "an https URL", authority)?;
        // https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, 2026-11-26.
        let authority = authority.unwrap_or_else(|| "https://login.microsoftonline.com".to_owned());
        let (Some(proof), Some(tenant), Some(client_id)) = (proof, tenant, settings.var("AZURE_CLIENT_ID")) else {
            return Ok(None);
        };
        let url = format!("{authority}/{tenant}/oauth2/v2.0/token");
        Ok(Some(Self { url, client_id: client_id.to_owned(), proof }))
    }

    pub(super) async fn request_token(&self, http: &Client, now: SystemTime) -> Result<Timed, CredentialError> {
        let mut form =
            vec![("grant_type", "client_credentials"), ("client_id", self.client_id.as_str()), ("scope", SCOPE)];
        let (secret, token);
        let setting = match &self.proof {
            Proof::Secret(stored) => {
                let unreadable = |_| CredentialError::transient(CLIENT_SECRET, "the secret cannot be read");
                secret = stored.get().await.map_err(unreadable)?;
                form.push(("client_secret", secret.expose_secret()));
                CLIENT_SECRET
            }
            Proof::TokenFile(path) => {
                token = read_file(path, TOKEN_FILE)?;
                // RFC 7523 §2.2.
                let assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                form.extend([("client_assertion_type", assertion_type), ("client_assertion", token.trim())]);
                TOKEN_FILE
            }
        };
        Ok(request_grant(http, &self.url, &form, setting).await?.timed(now))
    }
}
