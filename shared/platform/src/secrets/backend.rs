use std::time::{Duration, SystemTime};

use crate::aws::{Call, JSON_CONTENT_TYPE, Method};
use crate::settings::{SettingError, Settings};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::{SecretError, is_sendable};

const READ_TIMEOUT: Duration = Duration::from_secs(4);

/// Maximum length of a response, in bytes; a secret has at most 64 KiB.
const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Maximum length of a secret's name, in bytes; an ARN has at most 2048.
const MAX_NAME_BYTES: usize = 2048;

/// The AWS service that stores a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretService {
    /// Systems Manager Parameter Store.
    Parameters,
    /// Secrets Manager.
    Secrets,
}

/// The location of one secret at AWS, and the credentials to read it.
pub(crate) struct SecretBackend {
    service: SecretService,
    /// The setting that names the secret.
    setting: String,
    name: String,
    aws: crate::aws::Service,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ReadRequest<'a> {
    Parameter {
        #[serde(rename = "Name")]
        name: &'a str,
        #[serde(rename = "WithDecryption")]
        decrypted: bool,
    },
    Secret {
        #[serde(rename = "SecretId")]
        id: &'a str,
    },
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

#[derive(Deserialize)]
struct ServiceError {
    #[serde(rename = "__type")]
    kind: String,
}

impl SecretService {
    /// The service's id in signatures and host names.
    fn id(self) -> &'static str {
        match self {
            Self::Parameters => "ssm",
            Self::Secrets => "secretsmanager",
        }
    }

    fn target(self) -> &'static str {
        match self {
            Self::Parameters => "AmazonSSM.GetParameter",
            Self::Secrets => "secretsmanager.GetSecretValue",
        }
    }

    fn endpoint_variable(self) -> &'static str {
        match self {
            Self::Parameters => "AWS_ENDPOINT_URL_SSM",
            Self::Secrets => "AWS_ENDPOINT_URL_SECRETS_MANAGER",
        }
    }

    fn accepted(self) -> &'static str {
        match self {
            Self::Parameters => "the name of an SSM parameter",
            Self::Secrets => "the name or ARN of a secret in Secrets Manager",
        }
    }
}

impl SecretBackend {
    /// The secret that `setting` names; region and credentials come from the environment.
    pub(crate) fn from_settings(
        settings: &Settings,
        setting: &str,
        service: SecretService,
    ) -> Result<Option<Self>, SettingError> {
        let parse_name = |text: &str| (is_sendable(text) && text.len() <= MAX_NAME_BYTES).then(|| text.to_owned());
        let Some(name) = settings.parse(setting, service.accepted(), parse_name)? else { return Ok(None) };
        let aws = crate::aws::Service::from_settings(settings, service.id(), service.endpoint_variable())?;
        Ok(Some(Self { service, setting: setting.to_owned(), name, aws }))
    }

    pub(crate) fn read_error(&self) -> SecretError {
        SecretError { setting: self.setting.clone() }
    }

    /// Reads the secret; logs an error without any secret in it.
    pub(crate) async fn read(
        &self,
        client: &mut Option<crate::transport::Client>,
        now: SystemTime,
    ) -> Option<SecretString> {
        let result = timeout(READ_TIMEOUT, self.fetch(client, now))
            .await
            .unwrap_or_else(|_| Err("no answer in time".to_owned()));
        match result {
            Ok(value) => Some(value),
            Err(reason) => {
                tracing::error!(setting = %self.setting, %reason, "a secret could not be read");
                None
            }
        }
    }

    async fn fetch(
        &self,
        client: &mut Option<crate::transport::Client>,
        now: SystemTime,
    ) -> Result<SecretString, String> {
        if client.is_none() {
            *client = Some(crate::transport::build_client().map_err(|error| error.to_string())?);
        }
        let client = client.as_ref().ok_or("no client")?;
        let (status, body) = self.exchange(client, now).await?;
        if (200..300).contains(&status) {
            parse_value(&body).ok_or_else(|| "it is not a text that a header can carry".to_owned())
        } else {
            Err(describe_error(status, &body))
        }
    }

    /// Sends the request and reads the response to its end.
    async fn exchange(&self, client: &crate::transport::Client, now: SystemTime) -> Result<(u16, Vec<u8>), String> {
        let headers = [("content-type", JSON_CONTENT_TYPE), ("x-amz-target", self.service.target())];
        let call = Call { method: Method::POST, path: "/", headers: &headers, body: self.request_body()? };
        let request = self.aws.signed_request(client, call, now).map_err(|error| error.to_string())?;
        let mut response = request.send().await.map_err(|_| "the service cannot be reached")?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| "the answer broke off")? {
            if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err("the answer is too long".to_owned());
            }
            body.extend_from_slice(&chunk);
        }
        Ok((response.status().as_u16(), body))
    }

    fn request_body(&self) -> Result<Vec<u8>, String> {
        let request = match self.service {
            SecretService::Parameters => ReadRequest::Parameter { name: &self.name, decrypted: true },
            SecretService::Secrets => ReadRequest::Secret { id: &self.name },
        };
        serde_json::to_vec(&request).map_err(|error| error.to_string())
    }
}

/// Extracts the secret; it may have been stored with a line end.
fn parse_value(body: &[u8]) -> Option<SecretString> {
    use secrecy::ExposeSecret;
    let response: ReadResponse = serde_json::from_slice(body).ok()?;
    let value = response.parameter.map(|parameter| parameter.value).or(response.secret)?;
    let value = value.expose_secret().trim();
    is_sendable(value).then(|| value.into())
}

/// The status and code of an error, without its message, which may quote data.
fn describe_error(status: u16, body: &[u8]) -> String {
    let kind = serde_json::from_slice(body).map(|ServiceError { kind }| kind).unwrap_or_default();
    let code = kind.rsplit('#').next().unwrap_or_default();
    let is_code = (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_code { format!("status {status}, {code}") } else { format!("status {status}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_error_keeps_code_without_message() {
        let body = br#"{"__type":"com.amazonaws.ssm#ParameterNotFound","message":"canary"}"#;
        assert_eq!(describe_error(400, body), "status 400, ParameterNotFound");
        assert_eq!(describe_error(400, br#"{"__type":"the canary sang"}"#), "status 400");
        assert_eq!(describe_error(502, b"<html>"), "status 502");
    }

    #[test]
    fn secret_must_be_a_valid_header_value() {
        use secrecy::ExposeSecret;
        let read = |text: &str| parse_value(text.as_bytes()).map(|value| value.expose_secret().to_owned());
        assert_eq!(read(r#"{"Parameter":{"Value":"sk-1\n"}}"#).as_deref(), Some("sk-1"));
        assert_eq!(read(r#"{"SecretString":"sk-2"}"#).as_deref(), Some("sk-2"));
        for bad in [r#"{"SecretString":""}"#, r#"{"SecretString":"a b"}"#, r#"{"SecretBinary":"AA=="}"#, "{}", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
