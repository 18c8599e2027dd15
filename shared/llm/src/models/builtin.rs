use platform::secrets::Secret;
use platform::settings::{SettingError, Settings};

use super::entry::{Entry, Row};
use super::{ParsedModels, url};
use crate::{ModelConfig, Wire, providers, wire};

/// A model with its own variables.
struct Builtin {
    name: &'static str,
    key: Option<&'static str>,
    model: &'static str,
    base: &'static str,
    /// The base URL without the variable, if it is not that of the wire.
    default_base: Option<&'static str>,
    /// The model if only the key is set, and no other model.
    default_model: Option<&'static str>,
    wire: Wire,
}

/// The model of Amazon Bedrock, which needs nothing but its id.
const BEDROCK: &str = "bedrock";
const BEDROCK_MODEL: &str = "BEDROCK_MODEL";

/// The built-in models; the first configured one becomes the default.
const BUILTIN: [Builtin; 5] = [
    Builtin {
        name: "volcano",
        key: Some("ARK_API_KEY"),
        model: "ARK_MODEL",
        base: "ARK_BASE_URL",
        // Source: documentation and SDK of Ark, 2026-11-21.
        default_base: Some("https://ark.cn-beijing.volces.com/api/v3"),
        default_model: None,
        wire: Wire::Openai,
    },
    Builtin {
        name: "openai",
        key: Some("OPENAI_API_KEY"),
        model: "OPENAI_MODEL",
        base: "OPENAI_BASE_URL",
        default_base: None,
        default_model: None,
        wire: Wire::Openai,
    },
    Builtin {
        name: "local",
        key: None,
        model: "OLLAMA_MODEL",
        base: "OLLAMA_API_URL",
        default_base: None,
        default_model: None,
        wire: Wire::Ollama,
    },
    Builtin {
        name: "anthropic",
        key: Some("ANTHROPIC_API_KEY"),
        model: "ANTHROPIC_MODEL",
        base: "ANTHROPIC_BASE_URL",
        default_base: None,
        // https://docs.rs/claude-codes/2.1.311/claude_codes/models/enum.ClaudeModel.html, 2026-11-26.
        default_model: Some("claude-haiku-5-5"),
        wire: Wire::Anthropic,
    },
    Builtin {
        name: "gemini",
        key: Some("GEMINI_API_KEY"),
        model: "GEMINI_MODEL",
        base: "GEMINI_BASE_URL",
        default_base: None,
        // https://ai.google.dev/gemini-api/docs, 2026-11-26.
        default_model: Some("gemini-3.8-flash"),
        wire: Wire::Gemini,
    },
];

/// Adds the built-in models that have a model and a key or a base URL.
pub(super) fn read(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    BUILTIN.iter().try_for_each(|builtin| builtin.add_to(settings, parsed, settings.var(builtin.model)))?;
    let Some(model) = settings.var(BEDROCK_MODEL) else {
        parsed.left_out.push(BEDROCK.to_owned());
        return Ok(());
    };
    let row = Row { variable: BEDROCK_MODEL, path: String::new() };
    Entry::new(BEDROCK, model, Wire::Converse).add(&row, settings, parsed)
}

/// Adds the models of which only the key is set, unless there is another model: other programs use the same variables.
pub(super) fn read_keys_alone(settings: &Settings, parsed: &mut ParsedModels) -> Result<(), SettingError> {
    if !parsed.configs.is_empty() {
        return Ok(());
    }
    let mut alone = BUILTIN.iter().filter(|builtin| builtin.has_key_alone(settings));
    alone.try_for_each(|builtin| builtin.add_to(settings, parsed, builtin.default_model))
}

impl Builtin {
    fn add_to(&self, settings: &Settings, parsed: &mut ParsedModels, model: Option<&str>) -> Result<(), SettingError> {
        let api_key = self.key.map(|variable| Secret::from_settings(settings, variable)).transpose()?.flatten();
        let base = settings.parse(self.base, url::ACCEPTED, |text| url::parse_base(text, self.wire))?;
        let reachable = api_key.is_some() || base.is_some();
        let base = base.or_else(|| self.default_base.or(wire::protocol_of(self.wire).default_base).map(str::to_owned));
        let (Some(model), Some(base_url), true) = (model, base, reachable) else {
            parsed.notes.extend(self.partial_note(settings).filter(|_| !self.has_key_alone(settings)));
            parsed.left_out.push(self.name.to_owned());
            return Ok(());
        };
        let wire = if self.wire == Wire::Openai { providers::default_wire(&base_url, model) } else { self.wire };
        parsed.configs.push(ModelConfig { api_key, ..ModelConfig::new(self.name, &base_url, model, wire) });
        Ok(())
    }

    /// Whether the key is set, and no model although there is a default.
    fn has_key_alone(&self, settings: &Settings) -> bool {
        self.default_model.is_some() && settings.var(self.model).is_none() && self.set_key(settings).is_some()
    }

    /// Returns the variable that gives or locates the key.
    fn set_key(&self, settings: &Settings) -> Option<String> {
        let key = self.key?;
        let forms = [key.to_owned(), format!("{key}_PARAMETER"), format!("{key}_SECRET")];
        forms.into_iter().find(|name| settings.var(name).is_some())
    }

    /// Returns a note if only a part of the variables is set.
    fn partial_note(&self, settings: &Settings) -> Option<String> {
        let is_set = |name: &str| settings.var(name).is_some();
        let key = self.set_key(settings).or(self.key.map(str::to_owned));
        let address: Vec<&str> = key.as_deref().into_iter().chain([self.base]).collect();
        let set = address.iter().copied().chain([self.model]).find(|name| is_set(name))?;
        let missing = if set == self.model { address.join(" or ") } else { self.model.to_owned() };
        Some(format!("{set} is set without {missing}: there is no model `{}`", self.name))
    }
}
