//! What authenticates the requests to models: a key, a signature or a token.

use std::sync::Arc;
use std::time::SystemTime;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use platform::aws::{AwsCredentials, Scope};
use platform::settings::{SettingError, Settings};
use platform::tokens::{CredentialError, TokenSource};
use platform::transport::Client;
use reqwest::Request;
use secrecy::{ExposeSecret, SecretString};

use crate::errors::AttemptError;
use crate::{Auth, Cloud, ModelConfig, ModelError, wire};

/// The name of Amazon Bedrock in signatures, for both of its hosts.
// Source: service model of botocore 1.44.8, 2026-11-26.
const BEDROCK: &str = "bedrock";

// https://learn.microsoft.com/azure/ai-foundry/openai/reference, 2026-11-26.
const AZURE_KEY: HeaderName = HeaderName::from_static("api-key");

/// The identities of this process at the clouds, each if a model needs it.
#[derive(Default)]
pub(crate) struct Identities {
    aws: Option<Arc<AwsCredentials>>,
    entra: Option<TokenSource>,
    google: Option<TokenSource>,
}

impl Identities {
    /// Makes no request.
    pub(crate) fn from_settings(
        settings: &Settings,
        http: &Client,
        configs: &[ModelConfig],
    ) -> Result<Self, SettingError> {
        let user = |auth| configs.iter().find(|config| config.auth == auth && config.api_key.is_none());
        let has_google = user(Auth::Google).is_some();
        let needs_aws = has_google || user(Auth::Aws).is_some();
        let aws = needs_aws.then(|| Arc::new(AwsCredentials::from_settings(settings)));
        let google = match &aws {
            Some(aws) if has_google => Some(TokenSource::google(settings, http, Arc::clone(aws))?),
            _ => None,
        };
        let entra = match user(Auth::Azure) {
            Some(config) => {
                let accepted = format!(
                    "the id of a tenant, with AZURE_CLIENT_ID and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE, \
                     or \"apiKeyVar\" or \"apiKeyParameter\" in the row of `{}`",
                    config.name
                );
                let entra = TokenSource::entra(settings, http)?;
                Some(entra.ok_or_else(|| SettingError::new("AZURE_TENANT_ID", accepted))?)
            }
            None => None,
        };
        Ok(Self { aws, entra, google })
    }

    /// Adds what authenticates a request of the model; signs it as it is.
    pub(crate) async fn authenticate(
        &self,
        http: &Client,
        config: &ModelConfig,
        request: &mut Request,
    ) -> Result<(), AttemptError> {
        let now = SystemTime::now();
        let failed = |error| credential_error(&config.name, &error);
        let (name, prefix, secret) = if let Some(key) = &config.api_key {
            let key = key.get().await.map_err(|_| AttemptError::fatal(ModelError::Unavailable))?;
            let (name, prefix) = key_header(config);
            (name, prefix, key)
        } else if let (Auth::Aws, Some(aws)) = (config.auth, &self.aws) {
            let scope = Scope { service: BEDROCK, region: config.region.as_deref().unwrap_or_default() };
            return aws.sign(http, request, scope, now).await.map_err(failed);
        } else if let Some(source) = self.token_source(config.auth) {
            (AUTHORIZATION, "Bearer ", source.get(now).await.map_err(failed)?)
        } else {
            return Ok(());
        };
        request.headers_mut().insert(name, header_value(prefix, &secret)?);
        Ok(())
    }

    /// Records that the endpoint rejected what authenticated a request; returns whether the next one may have another
    /// credential.
    pub(crate) fn invalidate(&self, config: &ModelConfig, fault: &AttemptError) -> bool {
        let now = SystemTime::now();
        // A permission that is missing stays so.
        let is_denied = fault.code.as_deref().is_some_and(|code| code.starts_with("AccessDenied"));
        match (&config.api_key, config.auth, &self.aws) {
            _ if fault.error != ModelError::Auth => false,
            (Some(key), ..) => key.invalidate(),
            (None, Auth::Aws, Some(aws)) => !is_denied && aws.invalidate(now),
            _ => fault.status == Some(401) && self.token_source(config.auth).is_some_and(|one| one.invalidate(now)),
        }
    }

    fn token_source(&self, auth: Auth) -> Option<&TokenSource> {
        match auth {
            Auth::Azure => self.entra.as_ref(),
            Auth::Google => self.google.as_ref(),
            Auth::Key | Auth::Aws => None,
        }
    }
}

fn key_header(config: &ModelConfig) -> (HeaderName, &'static str) {
    match (config.auth, config.cloud) {
        (Auth::Azure, _) => (AZURE_KEY, ""),
        // Source: service model of botocore 1.44.8 (`httpBearerAuth`), 2026-11-26.
        (_, Some(Cloud::Bedrock)) => (AUTHORIZATION, "Bearer "),
        _ => wire::protocol_of(config.wire).key_header.clone(),
    }
}

fn header_value(prefix: &str, secret: &SecretString) -> Result<HeaderValue, AttemptError> {
    let value = HeaderValue::try_from(format!("{prefix}{}", secret.expose_secret()));
    let mut value = value.map_err(|_| AttemptError::fatal(ModelError::Auth))?;
    value.set_sensitive(true);
    Ok(value)
}

fn credential_error(model: &str, error: &CredentialError) -> AttemptError {
    tracing::error!(model, %error, "a model cannot be called without its credential");
    if error.is_transient {
        AttemptError::transient(ModelError::Unavailable)
    } else {
        AttemptError::fatal(ModelError::Auth)
    }
}
