use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Request, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::Scope;
use crate::credential::{Boxed, CredentialError, Expiring, exchange, parse_time, read_file};
use crate::settings::{SettingError, Settings};
use crate::transport::{Client, is_protected};

const KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const RELATIVE_URI: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
const FULL_URI: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
const TOKEN: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN";
const TOKEN_FILE: &str = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE";

/// The addresses of ECS and EKS.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html, 2026-11-26.
const CONTAINER_HOSTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// The AWS credentials of the process: of its environment, or of its container. The latter are read on first use,
/// renewed some minutes before their end, and never stored.
pub struct AwsCredentials {
    source: Source,
    cached: Expiring<Credentials>,
}

enum Source {
    Environment(Credentials),
    Container(Container),
    Missing,
}

struct Container {
    setting: &'static str,
    url: String,
    token: Option<SecretString>,
    /// The path of a file with the token. It is read each time, because its owner replaces it.
    token_file: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    access_key_id: String,
    secret_access_key: SecretString,
    token: Option<SecretString>,
    expiration: Option<String>,
}

impl std::fmt::Debug for AwsCredentials {
    // The path of a container's address is as good as its credentials.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AwsCredentials")
    }
}

impl AwsCredentials {
    /// Finds the source of credentials; reads nothing from a container yet.
    pub fn from_settings(settings: &Settings) -> Self {
        let key = settings.var(KEY_ID).zip(settings.var(SECRET));
        let source = match key {
            Some((id, secret)) => {
                let token = settings.var("AWS_SESSION_TOKEN").map(str::to_owned);
                Source::Environment(Credentials::new(id, secret, token, None, "environment"))
            }
            None => Container::from_settings(settings).map_or(Source::Missing, Source::Container),
        };
        Self { source, cached: Expiring::new() }
    }

    /// The same for a service at its own address, which needs some, or for a substitute, which may need none.
    pub(super) fn of_service(settings: &Settings, is_substitute: bool) -> Result<Self, SettingError> {
        let found = Self::from_settings(settings);
        match found.source {
            Source::Missing if is_substitute => {
                let local = Credentials::new("local", "local", None, None, "substitute");
                Ok(Self { source: Source::Environment(local), ..found })
            }
            Source::Missing if settings.var(KEY_ID).is_some() => {
                Err(SettingError::new(SECRET, "the secret of AWS_ACCESS_KEY_ID"))
            }
            Source::Missing => Err(SettingError::new(KEY_ID, "an access key id")),
            Source::Environment(_) | Source::Container(_) => Ok(found),
        }
    }

    /// Whether the settings name a source of credentials.
    pub fn are_configured(settings: &Settings) -> bool {
        [KEY_ID, RELATIVE_URI, FULL_URI].iter().any(|name| settings.var(name).is_some())
    }

    /// Adds the headers that sign a request; its body must be in memory. The signature is valid for some minutes.
    ///
    /// # Errors
    /// There are no valid credentials, or the request cannot be signed.
    pub async fn sign(
        &self,
        http: &Client,
        request: &mut Request,
        scope: Scope<'_>,
        now: SystemTime,
    ) -> Result<(), CredentialError> {
        let credentials = self.get(http, now).await?;
        let signed = |name: &&HeaderName| **name == CONTENT_TYPE || name.as_str().starts_with("x-");
        let headers = request.headers().iter().filter(|(name, _)| signed(name));
        let headers = headers.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        let body = request.body().and_then(|body| body.as_bytes()).unwrap_or_default();
        let method = request.method().as_str();
        let signable = SignableRequest::new(method, request.url().as_str(), headers, SignableBody::Bytes(body));
        let signature =
            signable.map_err(CredentialError::unsignable).and_then(|request| scope.sign(request, &credentials, now));
        for (name, value) in signature? {
            let name = HeaderName::try_from(name).map_err(CredentialError::unsignable)?;
            let mut value = HeaderValue::try_from(value).map_err(CredentialError::unsignable)?;
            value.set_sensitive(name == AUTHORIZATION);
            request.headers_mut().insert(name, value);
        }
        Ok(())
    }

    /// Records that a service rejected the credentials; returns whether they will be read again for that.
    pub fn invalidate(&self, now: SystemTime) -> bool {
        matches!(self.source, Source::Container(_)) && self.cached.invalidate(now)
    }

    pub(super) async fn get(&self, http: &Client, now: SystemTime) -> Result<Credentials, CredentialError> {
        match &self.source {
            Source::Environment(credentials) => Ok(credentials.clone()),
            Source::Container(container) => self.cached.get(now, async || container.read(http, now).await).await,
            Source::Missing => Err(CredentialError::new(
                KEY_ID,
                format!("neither it with {SECRET} nor {RELATIVE_URI} nor {FULL_URI} is set"),
            )),
        }
    }
}

impl CredentialError {
    /// The URL or the headers of a request are invalid.
    pub(super) fn unsignable(_: impl std::error::Error) -> Self {
        Self::new(KEY_ID, "the request cannot be signed")
    }
}

impl Container {
    fn from_settings(settings: &Settings) -> Option<Self> {
        let var = |name: &str| settings.var(name).map(str::to_owned);
        let relative =
            settings.var(RELATIVE_URI).map(|path| (RELATIVE_URI, format!("http://{}{path}", CONTAINER_HOSTS[0])));
        let (setting, url) = relative.or_else(|| var(FULL_URI).map(|url| (FULL_URI, url)))?;
        Some(Self { setting, url, token: var(TOKEN).map(SecretString::from), token_file: var(TOKEN_FILE) })
    }

    fn read<'a>(
        &'a self,
        http: &'a Client,
        now: SystemTime,
    ) -> Boxed<'a, Result<(Credentials, SystemTime), CredentialError>> {
        Box::pin(self.read_once(http, now))
    }

    async fn read_once(&self, http: &Client, now: SystemTime) -> Result<(Credentials, SystemTime), CredentialError> {
        let host = Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        if !is_protected(&self.url) && !CONTAINER_HOSTS.contains(&&*host) {
            return Err(CredentialError::new(self.setting, "neither an https URL nor an address of a container"));
        }
        let token = match &self.token_file {
            Some(path) => Some(read_file(path, TOKEN_FILE)?.trim().into()),
            None => self.token.clone(),
        };
        let mut request = http.get(&self.url);
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.expose_secret());
        }
        let Answer { access_key_id, secret_access_key, token, expiration } = exchange(request, self.setting).await?;
        // Without an end: some time after which they are read again.
        let end = expiration.as_deref().and_then(parse_time).unwrap_or(now + Duration::from_hours(1));
        let token = token.map(|token| token.expose_secret().to_owned());
        let credentials = Credentials::new(access_key_id, secret_access_key.expose_secret(), token, None, "container");
        Ok((credentials, end))
    }
}

#[cfg(test)]
mod tests;
