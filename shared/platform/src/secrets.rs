//! Secrets: given by value, or stored at AWS and read on first use; exposed only when they are sent.
//!
//! A function whose keys are stored at AWS starts without reading them. It notices a new key within minutes, and at
//! once if the old one is rejected.

mod remote_secret;

use std::sync::Arc;
use std::time::SystemTime;

use crate::settings::{SettingError, Settings};
use secrecy::SecretString;

use self::remote_secret::RemoteSecret;
pub use self::remote_secret::SecretService;

/// A key or token; `Debug` does not show it. Clones share the cached value.
#[derive(Clone)]
pub struct Secret(SecretSource);

#[derive(Clone)]
enum SecretSource {
    Value(SecretString),
    Remote(Arc<RemoteSecret>),
}

/// A secret that cannot be read; the text names the setting that locates it, never its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret of {setting} could not be read: {reason}")]
pub struct SecretError {
    /// The setting.
    pub setting: String,
    /// The status and the code of the service, or why there was no response.
    pub reason: String,
}

impl Secret {
    /// A secret given by value.
    pub fn by_value(value: impl Into<String>) -> Self {
        Self(SecretSource::Value(SecretString::from(value.into())))
    }

    /// Reads `NAME`, `NAME_PARAMETER` (an SSM parameter) or `NAME_SECRET` (a secret of Secrets Manager); `None` if none
    /// of them is set. Makes no call: the first [`Secret::get`] reads a secret stored at AWS.
    ///
    /// # Errors
    /// More than one of the three, a value that no header can carry, or a stored secret without region and credentials.
    pub fn from_settings(settings: &Settings, name: &str) -> Result<Option<Self>, SettingError> {
        Self::read_settings(settings, name, is_sendable)
    }

    /// The same for a text of any characters that is stored like a secret, such as a long prompt.
    ///
    /// # Errors
    /// More than one of the three, or a stored text without region and credentials.
    pub fn text_from_settings(settings: &Settings, name: &str) -> Result<Option<Self>, SettingError> {
        Self::read_settings(settings, name, |text| !text.is_empty())
    }

    fn read_settings(settings: &Settings, name: &str, accepts: Accepts) -> Result<Option<Self>, SettingError> {
        let (parameter, secret) = (format!("{name}_PARAMETER"), format!("{name}_SECRET"));
        let set = [name, &parameter, &secret].iter().filter(|name| settings.var(name).is_some()).count();
        if set > 1 {
            return Err(SettingError::new(name, format!("only one of {name}, {parameter} and {secret} to be set")));
        }
        for (setting, service) in [(parameter, SecretService::Parameters), (secret, SecretService::Secrets)] {
            if let Some(stored) = RemoteSecret::from_settings(settings, &setting, service, accepts)? {
                return Ok(Some(Self(SecretSource::Remote(Arc::new(stored)))));
            }
        }
        let parse = |value: &str| accepts(value).then(|| Self::by_value(value));
        settings.parse(name, "a key of visible ASCII characters", parse)
    }

    /// Returns the value; expose it only where it is written into a request.
    ///
    /// # Errors
    /// The stored secret cannot be read and has no recent value.
    pub async fn get(&self) -> Result<SecretString, SecretError> {
        match &self.0 {
            SecretSource::Value(value) => Ok(value.clone()),
            SecretSource::Remote(remote) => remote.get(SystemTime::now()).await,
        }
    }

    /// The value without a read, for removing it from output; `None` until its first use.
    pub fn peek(&self) -> Option<SecretString> {
        match &self.0 {
            SecretSource::Value(value) => Some(value.clone()),
            SecretSource::Remote(remote) => remote.peek(),
        }
    }

    /// Records that a service rejected the value: the next [`Secret::get`] reads it again.
    ///
    /// Returns whether the value may change. It cannot if it was given by value, or was read after a rejection a moment
    /// ago.
    pub fn invalidate(&self) -> bool {
        match &self.0 {
            SecretSource::Value(_) => false,
            SecretSource::Remote(remote) => remote.invalidate(SystemTime::now()),
        }
    }
}

/// The beginning of the names of stored secrets that may be read, such as `/lambda-chat/tools/`.
#[derive(Clone, Debug)]
pub struct SecretPrefix(String);

impl SecretPrefix {
    /// Reads the setting; `None` if it is unset.
    ///
    /// # Errors
    /// A text that no name begins with, or every one.
    pub fn from_settings(settings: &Settings, setting: &str) -> Result<Option<Self>, SettingError> {
        let parse = |text: &str| (is_path(text) && text.len() > 1).then(|| Self(text.to_owned()));
        settings.parse(setting, "the beginning of names, such as /lambda-chat/tools/ or /lambda-chat/models/", parse)
    }

    /// Returns the secret of that name without reading it; `None` if the name does not begin with the prefix. `setting`
    /// locates it in messages.
    ///
    /// # Errors
    /// No region or no credentials.
    pub fn secret(
        &self,
        settings: &Settings,
        setting: &str,
        service: SecretService,
        name: &str,
    ) -> Result<Option<Secret>, SettingError> {
        if !self.contains(name) {
            return Ok(None);
        }
        let secret = RemoteSecret::new(settings, setting, service, name.to_owned(), is_sendable)?;
        Ok(Some(Secret(SecretSource::Remote(Arc::new(secret)))))
    }

    /// Whether a name is valid and begins with the prefix.
    pub fn contains(&self, name: &str) -> bool {
        name.strip_prefix(&self.0).is_some_and(|rest| !rest.is_empty()) && is_path(name)
    }
}

fn is_path(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_.-".contains(&byte));
    plain && name.len() <= 512 && !name.contains("..") && !name.contains("//")
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            SecretSource::Value(_) => "Secret(by value)",
            SecretSource::Remote(_) => "Secret(in a secret store)",
        })
    }
}

type Accepts = fn(&str) -> bool;

/// Whether a header can carry the value unchanged.
fn is_sendable(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    const AWS: [(&str, &str); 3] =
        [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "canary-aws")];

    fn read(pairs: &[(&str, &str)]) -> Result<Option<Secret>, String> {
        let settings = Settings::from_pairs(AWS.iter().chain(pairs).copied());
        Secret::from_settings(&settings, "ARK_API_KEY").map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn secret_by_value_is_returned_unchanged() {
        assert!(read(&[]).unwrap().is_none());
        let secret = read(&[("ARK_API_KEY", " sk-1 ")]).unwrap().unwrap();
        assert_eq!(secret.get().await.unwrap().expose_secret(), "sk-1");
        assert_eq!(secret.peek().unwrap().expose_secret(), "sk-1");
        assert!(!secret.invalidate(), "it would be the same again");
    }

    #[tokio::test]
    async fn text_may_have_any_characters() {
        let settings = Settings::from_pairs([("SYSTEM_PROMPT", "你是 a parrot.")]);
        let text = Secret::text_from_settings(&settings, "SYSTEM_PROMPT").unwrap().unwrap();
        assert_eq!(text.get().await.unwrap().expose_secret(), "你是 a parrot.");
        let two = [("SYSTEM_PROMPT", "a"), ("SYSTEM_PROMPT_PARAMETER", "/a")];
        let error = Secret::text_from_settings(&Settings::from_pairs(two), "SYSTEM_PROMPT").unwrap_err();
        assert_eq!(error.variable, "SYSTEM_PROMPT");
    }

    #[test]
    fn f122_no_output_shows_a_secret() {
        let pairs: [&[(&str, &str)]; 3] = [
            &[("ARK_API_KEY", "canary-7f3a")],
            &[("ARK_API_KEY_PARAMETER", "/chat/canary")],
            &[("ARK_API_KEY_SECRET", "canary")],
        ];
        for pairs in pairs {
            assert!(!format!("{:?}", read(pairs).unwrap().unwrap()).contains("canary"));
        }
        let error = read(&[("ARK_API_KEY", "canary é")]).unwrap_err();
        assert_eq!(error, "ARK_API_KEY: expected a key of visible ASCII characters");
    }

    #[test]
    fn two_sources_at_once_are_an_error() {
        let forms = [("ARK_API_KEY", "canary"), ("ARK_API_KEY_PARAMETER", "/canary"), ("ARK_API_KEY_SECRET", "canary")];
        for omitted in 0..forms.len() {
            let two: Vec<_> =
                forms.iter().enumerate().filter(|(at, _)| *at != omitted).map(|(_, pair)| *pair).collect();
            let error = read(&two).unwrap_err();
            assert!(error.contains("only one of") && !error.contains("canary"), "{error}");
        }
    }

    #[test]
    fn stored_secret_needs_region_and_credentials_without_override() {
        let without = |name: &str| {
            let pairs = AWS.iter().filter(|(known, _)| *known != name).copied();
            let settings = Settings::from_pairs(pairs.chain([("K_PARAMETER", "/k")]));
            Secret::from_settings(&settings, "K").unwrap_err().variable
        };
        for (name, _) in AWS {
            assert_eq!(without(name), name);
        }
        let with_override = [("K_SECRET", "k"), ("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:9")];
        assert!(Secret::from_settings(&Settings::from_pairs(with_override), "K").unwrap().is_some());
        let other_override = [("K_PARAMETER", "k"), ("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://127.0.0.1:9")];
        assert!(Secret::from_settings(&Settings::from_pairs(other_override), "K").is_err());
    }

    #[test]
    fn invalid_secret_name_error_names_the_variable() {
        let error = read(&[("ARK_API_KEY_PARAMETER", "a b")]).unwrap_err();
        assert_eq!(error, "ARK_API_KEY_PARAMETER: expected the name of an SSM parameter");
        let error = read(&[("ARK_API_KEY_SECRET", "é")]).unwrap_err();
        assert_eq!(error, "ARK_API_KEY_SECRET: expected the name or ARN of a secret in Secrets Manager");
    }
}
