use std::time::{Duration, SystemTime};

use aws::{Call, JSON};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use settings::{SettingError, Settings};
use tokio::time::timeout;

use crate::{SecretError, is_sendable};

/// Timeout for one read.
const PATIENCE: Duration = Duration::from_secs(4);

/// Maximum length of a response, in bytes; a secret has at most 64 KiB.
const LONGEST: usize = 256 * 1024;

/// Maximum length of a secret's name, in bytes; an ARN has at most 2048.
const LONGEST_NAME: usize = 2048;

/// The AWS service that stores a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    /// Systems Manager Parameter Store.
    Parameters,
    /// Secrets Manager.
    Secrets,
}

/// The location of one secret at AWS, and the credentials to read it.
pub(crate) struct Vault {
    service: Service,
    /// The setting that names the secret.
    setting: String,
    name: String,
    aws: aws::Service,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Question<'a> {
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
struct Answer {
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
struct Refusal {
    #[serde(rename = "__type")]
    kind: String,
}

impl Service {
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

impl Vault {
    /// The secret that `setting` names; region and credentials come from the environment.
    pub(crate) fn from_settings(
        settings: &Settings,
        setting: &str,
        service: Service,
    ) -> Result<Option<Self>, SettingError> {
        let plausible = |text: &str| (is_sendable(text) && text.len() <= LONGEST_NAME).then(|| text.to_owned());
        let Some(name) = settings.parsed(setting, service.accepted(), plausible)? else { return Ok(None) };
        let aws = aws::Service::from_settings(settings, service.id(), service.endpoint_variable())?;
        Ok(Some(Self { service, setting: setting.to_owned(), name, aws }))
    }

    pub(crate) fn unreadable(&self) -> SecretError {
        SecretError { setting: self.setting.clone() }
    }

    /// Reads the secret; logs an error without any secret in it.
    pub(crate) async fn read(&self, client: &mut Option<transport::Client>, now: SystemTime) -> Option<SecretString> {
        let answer =
            timeout(PATIENCE, self.ask(client, now)).await.unwrap_or_else(|_| Err("no answer in time".to_owned()));
        match answer {
            Ok(value) => Some(value),
            Err(reason) => {
                tracing::error!(setting = %self.setting, %reason, "a secret could not be read");
                None
            }
        }
    }

    async fn ask(&self, client: &mut Option<transport::Client>, now: SystemTime) -> Result<SecretString, String> {
        if client.is_none() {
            *client = Some(transport::client().map_err(|error| error.to_string())?);
        }
        let client = client.as_ref().ok_or("no client")?;
        let (status, answer) = self.exchange(client, now).await?;
        if (200..300).contains(&status) {
            value(&answer).ok_or_else(|| "it is not a text that a header can carry".to_owned())
        } else {
            Err(refusal(status, &answer))
        }
    }

    /// Sends the request and reads the response to its end.
    async fn exchange(&self, client: &transport::Client, now: SystemTime) -> Result<(u16, Vec<u8>), String> {
        let headers = [("content-type", JSON), ("x-amz-target", self.service.target())];
        let call = Call { path: "/", headers: &headers, body: self.question()? };
        let request = self.aws.request(client, call, now).map_err(|error| error.to_string())?;
        let mut response = request.send().await.map_err(|_| "the service cannot be reached")?;
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| "the answer broke off")? {
            if answer.len() + chunk.len() > LONGEST {
                return Err("the answer is too long".to_owned());
            }
            answer.extend_from_slice(&chunk);
        }
        Ok((response.status().as_u16(), answer))
    }

    fn question(&self) -> Result<Vec<u8>, String> {
        let question = match self.service {
            Service::Parameters => Question::Parameter { name: &self.name, decrypted: true },
            Service::Secrets => Question::Secret { id: &self.name },
        };
        serde_json::to_vec(&question).map_err(|error| error.to_string())
    }
}

/// Extracts the secret; it may have been stored with a line end.
fn value(answer: &[u8]) -> Option<SecretString> {
    use secrecy::ExposeSecret;
    let answer: Answer = serde_json::from_slice(answer).ok()?;
    let value = answer.parameter.map(|parameter| parameter.value).or(answer.secret)?;
    let value = value.expose_secret().trim();
    is_sendable(value).then(|| value.into())
}

/// The status and code of an error, without its message, which may quote data.
fn refusal(status: u16, answer: &[u8]) -> String {
    let kind = serde_json::from_slice(answer).map(|Refusal { kind }| kind).unwrap_or_default();
    let code = kind.rsplit('#').next().unwrap_or_default();
    let plain = (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain { format!("status {status}, {code}") } else { format!("status {status}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_error_keeps_code_without_message() {
        let body = br#"{"__type":"com.amazonaws.ssm#ParameterNotFound","message":"canary"}"#;
        assert_eq!(refusal(400, body), "status 400, ParameterNotFound");
        assert_eq!(refusal(400, br#"{"__type":"the canary sang"}"#), "status 400");
        assert_eq!(refusal(502, b"<html>"), "status 502");
    }

    #[test]
    fn secret_must_be_a_valid_header_value() {
        use secrecy::ExposeSecret;
        let read = |text: &str| value(text.as_bytes()).map(|value| value.expose_secret().to_owned());
        assert_eq!(read(r#"{"Parameter":{"Value":"sk-1\n"}}"#).as_deref(), Some("sk-1"));
        assert_eq!(read(r#"{"SecretString":"sk-2"}"#).as_deref(), Some("sk-2"));
        for bad in [r#"{"SecretString":""}"#, r#"{"SecretString":"a b"}"#, r#"{"SecretBinary":"AA=="}"#, "{}", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
