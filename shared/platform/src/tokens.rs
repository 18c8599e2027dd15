//! Access tokens of the process at other clouds: of Entra ID for Azure, and of Google.

mod entra;
mod google;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::CONTENT_TYPE;
use secrecy::SecretString;
use serde::Deserialize;

use crate::aws::AwsCredentials;
use crate::settings::{SettingError, Settings};
use crate::transport::Client;

pub use crate::credential::CredentialError;
use crate::credential::{Expiring, exchange, parse_time, read_file};

/// The access token of one identity: requested on first use, renewed some minutes before its end, never stored.
#[derive(Debug)]
pub struct TokenSource {
    http: Client,
    grant: Grant,
    token: Expiring<SecretString>,
}

#[derive(Debug)]
enum Grant {
    Entra(entra::Entra),
    Google(google::CredentialFile),
}

type Timed = (SecretString, SystemTime);

#[derive(Deserialize)]
struct Granted {
    access_token: SecretString,
    expires_in: u64,
}

impl TokenSource {
    /// The application of Entra ID in `AZURE_TENANT_ID` and `AZURE_CLIENT_ID`, with `AZURE_CLIENT_SECRET` or
    /// `AZURE_FEDERATED_TOKEN_FILE`; `None` if none is configured.
    ///
    /// # Errors
    /// A setting that cannot be used.
    pub fn entra(settings: &Settings, http: &Client) -> Result<Option<Self>, SettingError> {
        Ok(entra::Entra::from_settings(settings)?.map(|entra| Self::new(http, Grant::Entra(entra))))
    }

    /// The identity in the file that `GOOGLE_APPLICATION_CREDENTIALS` names; `aws` proves it if the file federates with
    /// AWS.
    ///
    /// # Errors
    /// No file, or one of an unknown form.
    pub fn google(settings: &Settings, http: &Client, aws: Arc<AwsCredentials>) -> Result<Self, SettingError> {
        Ok(Self::new(http, Grant::Google(google::CredentialFile::from_settings(settings, aws)?)))
    }

    fn new(http: &Client, grant: Grant) -> Self {
        Self { http: http.clone(), grant, token: Expiring::new() }
    }

    /// Returns the token; expose it only where it is written into a request.
    ///
    /// # Errors
    /// There is no valid token, and none can be obtained.
    pub async fn get(&self, now: SystemTime) -> Result<SecretString, CredentialError> {
        let read = async || match &self.grant {
            Grant::Entra(entra) => entra.request_token(&self.http, now).await,
            Grant::Google(file) => file.request_token(&self.http, now).await,
        };
        self.token.get(now, read).await
    }

    /// Records that a service rejected the token; returns whether another one will be requested for that.
    pub fn invalidate(&self, now: SystemTime) -> bool {
        self.token.invalidate(now)
    }
}

impl Granted {
    fn timed(self, now: SystemTime) -> Timed {
        // No token is valid for longer than a day.
        (self.access_token, now + Duration::from_secs(self.expires_in.min(86_400)))
    }
}

async fn request_grant(
    http: &Client,
    url: &str,
    form: &[(&str, &str)],
    setting: &'static str,
) -> Result<Granted, CredentialError> {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    exchange(http.post(url).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body), setting).await
}

#[cfg(test)]
pub(crate) mod tests;
