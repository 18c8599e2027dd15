//! Secrets that definitions may reference.

use platform::secrets::{Secret, SecretPrefix, SecretService};
use platform::settings::{SettingError, Settings};
use secrecy::ExposeSecret;
use serde::Serialize;

use super::secret_mask::MIN_SECRET_BYTES;
use super::token_variables::{is_token_variable, model_key_variables};

/// Prefix of the variables that definitions may reference.
const VARIABLE_PREFIX: &str = "TOOL_SECRET_";

/// Variable with the name prefix of the stored secrets that definitions may reference.
const PREFIX_SETTING: &str = "TOOL_SECRETS_UNDER";

/// Variable with the name prefix of the stored keys of models.
const MODEL_PREFIX_SETTING: &str = "MODEL_KEYS_UNDER";

/// A reference to a secret; a definition never holds the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SecretReference {
    /// A variable of the function: `TOOL_SECRET_…`, or `…_TOKEN` or `…_API_KEY` unless the product uses it itself.
    Env(String),
    /// An SSM parameter under the configured prefix.
    Parameter(String),
    /// A secret of Secrets Manager under the configured prefix.
    SecretsManager(String),
}

/// The secrets of a deployment that definitions may reference, and no others.
#[derive(Clone, Debug)]
pub struct ToolSecrets {
    settings: Settings,
    prefix: Option<SecretPrefix>,
    /// Model keys, which no definition may name where the prefixes overlap.
    of_models: Option<SecretPrefix>,
    model_keys: Vec<String>,
}

impl ToolSecrets {
    /// Reads `TOOL_SECRETS_UNDER`, the name prefix of SSM parameters and Secrets Manager secrets; if unset, none of
    /// them may be referenced.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let prefix = SecretPrefix::from_settings(settings, PREFIX_SETTING)?;
        let of_models = SecretPrefix::from_settings(settings, MODEL_PREFIX_SETTING)?;
        Ok(Self { settings: settings.clone(), prefix, of_models, model_keys: model_key_variables(settings) })
    }

    /// Returns all secrets in variables, including those that no definition references.
    pub fn env_secrets(&self) -> Vec<Secret> {
        let named = |name: &str| self.find(&SecretReference::Env(name.to_owned()));
        // A shorter one is never sent, and would match everywhere.
        let is_sent =
            |secret: &Secret| secret.peek().is_none_or(|value| value.expose_secret().len() >= MIN_SECRET_BYTES);
        self.settings.names_with_prefix("").filter_map(named).filter(is_sent).collect()
    }

    /// Returns the referenced secret; `None` if there is none or it may not be referenced.
    pub(crate) fn find(&self, reference: &SecretReference) -> Option<Secret> {
        let (service, name) = match reference {
            SecretReference::Env(name) => {
                return self.may_name(name).then(|| Secret::from_settings(&self.settings, name).ok().flatten())?;
            }
            SecretReference::Parameter(name) => (SecretService::Parameters, name),
            SecretReference::SecretsManager(name) => (SecretService::Secrets, name),
        };
        if self.of_models.as_ref().is_some_and(|prefix| prefix.contains(name)) {
            return None;
        }
        self.prefix.as_ref()?.secret(&self.settings, PREFIX_SETTING, service, name).ok().flatten()
    }

    /// Whether definitions may reference this variable.
    fn may_name(&self, name: &str) -> bool {
        is_variable(name) || (is_token_variable(name) && !self.model_keys.iter().any(|used| used == name))
    }
}

/// Whether a variable holds a secret's value; a variable with the path of a stored secret does not.
fn is_variable(name: &str) -> bool {
    let plain = name.len() <= 100 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let kept = ["_PARAMETER", "_SECRET"].iter().any(|end| name.ends_with(end));
    plain && !kept && name.strip_prefix(VARIABLE_PREFIX).is_some_and(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: [(&str, &str); 13] = [
        ("TOOL_SECRET_WEATHER", "canary-1"),
        ("TOOL_SECRET_KEPT_PARAMETER", "/anywhere/key"),
        ("TOOL_SECRETS_UNDER", "/chat/tools/"),
        ("MODEL_KEYS_UNDER", "/chat/tools/models/"),
        ("ARK_API_KEY", "canary-2"),
        ("DOCS_TOKEN", "canary-6"),
        ("SHORT_TOKEN", "1"),
        ("MY_MODEL_API_KEY", "canary-7"),
        ("MODELS", r#"[{"name":"a","model":"m","apiKeyVar":"MY_MODEL_API_KEY"}]"#),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ACCESS_KEY_ID", "canary-3"),
        ("AWS_SECRET_ACCESS_KEY", "canary-4"),
        ("AWS_SESSION_TOKEN", "canary-5"),
    ];

    fn found(reference: &SecretReference) -> bool {
        ToolSecrets::from_settings(&Settings::from_pairs(SETTINGS)).unwrap().find(reference).is_some()
    }

    #[test]
    fn f131_definition_can_reference_only_tool_secrets() {
        let env = |name: &str| found(&SecretReference::Env(name.to_owned()));
        assert!(env("TOOL_SECRET_WEATHER") && env("TOOL_SECRET_KEPT") && env("DOCS_TOKEN"));
        for name in [
            "ARK_API_KEY",
            "MY_MODEL_API_KEY",
            "DOCS_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "tool_secret_weather",
            "TOOL_SECRET_",
            "",
            "TOOL_SECRET_KEPT_PARAMETER",
            "TOOL_SECRETS_UNDER",
            "TOOL_SECRET_named",
            "TOOL_SECRET_NONE",
        ] {
            assert!(!env(name), "{name}");
        }
        for name in ["/chat/tools/weather", "/chat/tools/a/b"] {
            assert!(found(&SecretReference::Parameter(name.to_owned())), "{name}");
            assert!(found(&SecretReference::SecretsManager(name.to_owned())), "{name}");
        }
        for name in [
            "/chat/ark",
            "/chat/tools/",
            "/chat/tools",
            "/chat/tools/../ark",
            "chat/tools/a",
            "/chat/tools//a",
            "/chat/tools/models/claude",
            "",
            "arn:aws:ssm:eu-west-1:1:parameter/chat/tools/a",
            "/chat/tools/a b",
            "/chat/tools/a:1",
        ] {
            assert!(!found(&SecretReference::Parameter(name.to_owned())), "{name}");
            assert!(!found(&SecretReference::SecretsManager(name.to_owned())), "{name}");
        }
    }

    #[test]
    fn f122_secrets_in_variables_can_be_listed_for_redaction() {
        let secrets = ToolSecrets::from_settings(&Settings::from_pairs(SETTINGS)).unwrap();
        let known: Vec<_> = secrets.env_secrets().iter().map(Secret::peek).collect();
        let mut known: Vec<_> = known.iter().flatten().map(ExposeSecret::expose_secret).collect();
        known.sort_unstable();
        assert_eq!(known, ["canary-1", "canary-6"]);
    }

    #[test]
    fn without_prefix_no_stored_secret_can_be_referenced() {
        let secrets = ToolSecrets::from_settings(&Settings::from_pairs(SETTINGS[3..].iter().copied())).unwrap();
        assert!(secrets.find(&SecretReference::Parameter("/chat/tools/a".to_owned())).is_none());
        let bad = Settings::from_pairs([("TOOL_SECRETS_UNDER", "/")]);
        assert_eq!(ToolSecrets::from_settings(&bad).unwrap_err().variable, "TOOL_SECRETS_UNDER");
    }

    #[test]
    fn f122_no_output_shows_the_secrets() {
        let secrets = ToolSecrets::from_settings(&Settings::from_pairs(SETTINGS)).unwrap();
        assert!(!format!("{secrets:?}").contains("canary"));
    }
}
