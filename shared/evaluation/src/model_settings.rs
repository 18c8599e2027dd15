//! Names of the settings that configure a model, for messages about it.

use llm::{ModelConfig, ToolMode};
use platform::settings::Settings;

/// What a command that needs a model reports without one.
const NO_MODEL: &str = "no model is configured. Set the variables of one line:
  BEDROCK_MODEL                      Amazon Bedrock, with the AWS credentials of the environment instead of a key
  ARK_API_KEY, ARK_MODEL             Volcengine Ark
  OPENAI_API_KEY, OPENAI_MODEL       OpenAI; with OPENAI_BASE_URL any compatible server
  ANTHROPIC_API_KEY                  Anthropic's Claude; ANTHROPIC_MODEL names another model than the default
  GEMINI_API_KEY                     Google's Gemini; GEMINI_MODEL names another model than the default
  OLLAMA_API_URL, OLLAMA_MODEL       Ollama, such as http://localhost:11434
  MODELS                             any number of models, as docs/reference/settings.md describes";

/// The models with variables of their own: name, key, model, address.
const BUILTIN: [(&str, Option<&str>, &str, &str); 6] = [
    ("bedrock", Some("AWS_ACCESS_KEY_ID"), "BEDROCK_MODEL", "AWS_REGION"),
    ("volcano", Some("ARK_API_KEY"), "ARK_MODEL", "ARK_BASE_URL"),
    ("openai", Some("OPENAI_API_KEY"), "OPENAI_MODEL", "OPENAI_BASE_URL"),
    ("local", None, "OLLAMA_MODEL", "OLLAMA_API_URL"),
    ("anthropic", Some("ANTHROPIC_API_KEY"), "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL"),
    ("gemini", Some("GEMINI_API_KEY"), "GEMINI_MODEL", "GEMINI_BASE_URL"),
];

/// The settings of one model, each as it follows "set".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModelSettings {
    pub(crate) key: String,
    pub(crate) model: String,
    pub(crate) address: String,
}

impl ModelSettings {
    /// Returns the variables of a built-in model, or the fields of a row in `MODELS`.
    pub(crate) fn of(config: &ModelConfig, settings: &Settings) -> Self {
        let own = |(name, _, model, _): &&(&str, Option<&str>, &str, &str)| {
            // A model whose key alone is set has a default, and only without rows.
            let id = settings.var(model).or_else(|| settings.var("MODELS").is_none().then_some(&*config.model));
            *name == config.name && id == Some(&*config.model)
        };
        let no_key = "a row in MODELS with \"apiKeyVar\" or \"apiKeyParameter\"";
        match BUILTIN.iter().find(own) {
            Some((_, key, model, address)) => Self {
                key: key.unwrap_or(no_key).to_owned(),
                model: (*model).to_owned(),
                address: (*address).to_owned(),
            },
            None => Self {
                key: "what \"apiKeyVar\" or \"apiKeyParameter\" names in its row of MODELS".to_owned(),
                model: "\"model\" in its row of MODELS".to_owned(),
                address: "\"baseUrl\" in its row of MODELS".to_owned(),
            },
        }
    }
}

pub(crate) fn mode_name(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Native => "native",
        ToolMode::Prompted => "prompted",
    }
}

/// Returns the message for a command that needs a model, with notes on settings that configure one only partly.
pub(crate) fn no_model_message(notes: &[String]) -> String {
    std::iter::once(NO_MODEL).chain(notes.iter().map(String::as_str)).collect::<Vec<_>>().join("\n  ")
}

#[cfg(test)]
mod tests {
    use llm::Models;

    use super::*;

    fn settings_of_models(pairs: &[(&str, &str)]) -> Vec<ModelSettings> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        let models = Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap();
        models.iter().map(|client| ModelSettings::of(client.config(), &settings)).collect()
    }

    #[test]
    fn builtin_model_has_variables_of_its_own() {
        let pairs = [("ARK_API_KEY", "k"), ("ARK_MODEL", "m"), ("OLLAMA_API_URL", "http://h"), ("OLLAMA_MODEL", "m")];
        let [claude] = settings_of_models(&[("ANTHROPIC_API_KEY", "k")]).try_into().unwrap();
        let names = ["ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL"];
        assert_eq!([claude.key, claude.model, claude.address], names);
        let [volcano, local] = settings_of_models(&pairs).try_into().unwrap();
        assert_eq!([volcano.key, volcano.model, volcano.address], ["ARK_API_KEY", "ARK_MODEL", "ARK_BASE_URL"]);
        assert_eq!([local.model, local.address], ["OLLAMA_MODEL", "OLLAMA_API_URL"]);
    }

    #[test]
    fn row_is_named_even_with_builtin_name() {
        let row = r#"[{"name":"openai","model":"m","baseUrl":"http://h"}]"#;
        let found = settings_of_models(&[("MODELS", row)]);
        assert_eq!(found[0].model, "\"model\" in its row of MODELS");
    }
}
