use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout;
use work::{RefreshPolicy, Refreshed};

use super::{Accepts, SecretError, is_sendable};
use crate::aws::{Call, JSON_CONTENT_TYPE, Method, Service};
use crate::credential::Boxed;
use crate::settings::{SettingError, Settings};
use crate::transport::{Client, build_client, fetch};

const POLICY: RefreshPolicy = RefreshPolicy {
    fresh_for: Duration::from_mins(5),
    usable_for: Duration::from_hours(1),
    retry_interval: Duration::from_secs(30),
};

const READ_TIMEOUT: Duration = Duration::from_secs(4);

/// Maximum length of a secret's name, in bytes; an ARN has at most 2048.
const MAX_NAME_BYTES: usize = 2048;

/// The AWS service that stores a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretService {
    /// Systems Manager Parameter Store.
    Parameters,
    /// Secrets Manager.
    Secrets,
}

/// A secret stored at AWS, with a cache of its last value.
pub(crate) struct RemoteSecret {
    service: SecretService,
    /// The setting that names the secret.
    setting: String,
    name: String,
    /// Which stored values may be used.
    accepts: Accepts,
    aws: Service,
    value: Refreshed<SecretString, SecretError>,
    client: Mutex<Option<Client>>,
}

#[derive(Deserialize)]
struct ReadResponse {
    #[serde(rename = "Parameter")]
    parameter: Option<Parameter>,
    #[serde(rename = "SecretString")]
    secret: Option<SecretString>,
}

#[derive(Deserialize)]
struct Parameter {
    #[serde(rename = "Value")]
    value: SecretString,
}

impl RemoteSecret {
    /// The secret that `setting` names; region and credentials come from the environment.
    pub(crate) fn from_settings(
        settings: &Settings,
        setting: &str,
        service: SecretService,
        accepts: Accepts,
    ) -> Result<Option<Self>, SettingError> {
        let accepted = match service {
            SecretService::Parameters => "the name of an SSM parameter",
            SecretService::Secrets => "the name or ARN of a secret in Secrets Manager",
        };
        let parse_name = |text: &str| (is_sendable(text) && text.len() <= MAX_NAME_BYTES).then(|| text.to_owned());
        let Some(name) = settings.parse(setting, accepted, parse_name)? else { return Ok(None) };
        Self::new(settings, setting, service, name, accepts).map(Some)
    }

    /// The secret with a name that is valid; `setting` locates it in messages.
    pub(crate) fn new(
        settings: &Settings,
        setting: &str,
        service: SecretService,
        name: String,
        accepts: Accepts,
    ) -> Result<Self, SettingError> {
        let (id, endpoint_variable) = match service {
            SecretService::Parameters => ("ssm", "AWS_ENDPOINT_URL_SSM"),
            SecretService::Secrets => ("secretsmanager", "AWS_ENDPOINT_URL_SECRETS_MANAGER"),
        };
        let aws = Service::from_settings(settings, id, endpoint_variable)?;
        let (setting, value, client) = (setting.to_owned(), Refreshed::new(POLICY), Mutex::default());
        Ok(Self { service, setting, name, accepts, aws, value, client })
    }

    /// Returns the value: a fresh one, else one that is read now, else the last one while it is usable.
    pub(crate) fn get(&self, now: SystemTime) -> Boxed<'_, Result<SecretString, SecretError>> {
        Box::pin(self.value.get(now, async move || self.read(now).await))
    }

    pub(crate) fn peek(&self) -> Option<SecretString> {
        self.value.peek()
    }

    /// Records that a service rejected the value; returns whether it will be read again for that.
    pub(crate) fn invalidate(&self, now: SystemTime) -> bool {
        self.value.try_invalidate(now)
    }

    /// Reads the secret; logs an error without any secret in it.
    async fn read(&self, now: SystemTime) -> Result<SecretString, SecretError> {
        let result = timeout(READ_TIMEOUT, self.fetch(now)).await;
        result.unwrap_or_else(|_| Err("no answer in time".to_owned())).map_err(|reason| {
            tracing::error!(setting = %self.setting, %reason, "a secret could not be read");
            SecretError { setting: self.setting.clone(), reason }
        })
    }

    async fn fetch(&self, now: SystemTime) -> Result<SecretString, String> {
        let mut client = self.client.lock().await;
        let client = match &mut *client {
            Some(client) => client,
            none => none.insert(build_client().map_err(|error| error.to_string())?),
        };
        let (target, body) = match self.service {
            SecretService::Parameters => {
                ("AmazonSSM.GetParameter", json!({ "Name": self.name, "WithDecryption": true }))
            }
            SecretService::Secrets => ("secretsmanager.GetSecretValue", json!({ "SecretId": self.name })),
        };
        let headers = [("content-type", JSON_CONTENT_TYPE), ("x-amz-target", target)];
        let call = Call { method: Method::POST, path: "/", headers: &headers, body: body.to_string().into_bytes() };
        let request = self.aws.signed_request(client, call, now).await.map_err(|error| error.to_string())?;
        let body = fetch(request, READ_TIMEOUT, "__type").await.map_err(|error| error.reason)?;
        parse_value(&body, self.accepts).ok_or_else(|| "it is empty, or not a text that a header can carry".to_owned())
    }
}

/// Extracts the secret; it may have been stored with a line end.
fn parse_value(body: &[u8], accepts: Accepts) -> Option<SecretString> {
    let response: ReadResponse = serde_json::from_slice(body).ok()?;
    let value = response.parameter.map(|parameter| parameter.value).or(response.secret)?;
    let value = value.expose_secret().trim();
    accepts(value).then(|| value.into())
}

#[cfg(test)]
mod tests;
