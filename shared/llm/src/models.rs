//! The models of this process, as configured in the settings.

mod builtin;
mod entry;
mod options;
mod url;

use std::sync::Arc;

use platform::secrets::SecretPrefix;
use platform::settings::{SettingError, Settings};

use crate::capabilities::MAX_ALLOCATED;
use crate::endpoint::{ClientDeps, Identities, Timeouts};
use crate::{ModelClient, ModelConfig, Wire, providers};

const DEMO: &str = "demo";

const MAX_CONTEXT: &str = "OLLAMA_MAX_CONTEXT_TOKENS";

const ACCEPTED_FALLBACK: &str = "the name of another configured model that is not for another caller alone";
/// The beginning of the names that `apiKeyParameter` may have.
const KEY_PREFIX: &str = "MODEL_KEYS_UNDER";

const NO_DEFAULT_NOTE: &str =
    "each model is for one caller alone (\"onlyFor\"): there is no default, and other callers have no model";

/// All configured models and the default one; cheap to clone.
#[derive(Clone)]
pub struct Models {
    clients: Vec<ModelClient>,
    default: Option<usize>,
    notes: Vec<String>,
    deps: ClientDeps,
}

/// The parsed settings: models, and notes on what was left out.
#[derive(Default)]
struct ParsedModels {
    configs: Vec<ModelConfig>,
    notes: Vec<String>,
    left_out: Vec<String>,
    key_prefix: Option<SecretPrefix>,
}

impl Models {
    /// Reads `ARK_*`, `OPENAI_*`, `OLLAMA_*`, `ANTHROPIC_*`, `GEMINI_*`, `BEDROCK_MODEL`, `MODELS`, `MODEL_KEYS_UNDER`,
    /// `MODEL_OPTIONS`, `DEFAULT_MODEL`, the timeouts and the identities of the process; makes no request.
    ///
    /// An error contains the name of the variable and the accepted values, never its value.
    pub fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        let timeouts = Timeouts::from_settings(settings)?;
        let key_prefix = SecretPrefix::from_settings(settings, KEY_PREFIX)?;
        let mut parsed = ParsedModels { key_prefix, ..ParsedModels::default() };
        builtin::read(settings, &mut parsed)?;
        entry::read(settings, &mut parsed)?;
        builtin::read_keys_alone(settings, &mut parsed)?;
        options::read(settings, &mut parsed)?;
        parsed.set_known_prices();
        let default = parsed.default_index(settings)?;
        let max_allocated_context = settings.parse_integer(MAX_CONTEXT, 1_024..=1_048_576, MAX_ALLOCATED)?;
        let identities = Arc::new(Identities::from_settings(settings, &http, &parsed.configs)?);
        let deps = ClientDeps { max_allocated_context, identities, ..ClientDeps::new(http, timeouts) };
        let clients = parsed.configs.into_iter().map(|config| ModelClient::new(config, &deps)).collect();
        Ok(Self { clients, default, notes: parsed.notes, deps })
    }

    /// Adds the demonstration served at `base_url`, named `demo`, as the default.
    #[must_use]
    pub fn with_demo(mut self, base_url: &str) -> Self {
        let config = ModelConfig::new(DEMO, base_url.trim_end_matches('/'), DEMO, Wire::Openai);
        let config = ModelConfig { demo: true, ..config };
        self.default = Some(self.clients.len());
        self.clients.push(ModelClient::new(config, &self.deps));
        self
    }

    /// Returns the client of that name, also if it is reserved for one caller.
    pub fn get(&self, name: &str) -> Option<&ModelClient> {
        self.iter().find(|client| client.config().name == name)
    }

    /// Returns the model of that name and its fallbacks in order, each once; empty for an unknown name.
    pub fn chain(&self, name: &str) -> Vec<ModelClient> {
        let mut chain: Vec<ModelClient> = Vec::new();
        let mut next = self.get(name);
        while let Some(client) =
            next.filter(|client| !chain.iter().any(|one| one.config().name == client.config().name))
        {
            chain.push(client.clone());
            next = client.config().fallback.as_deref().and_then(|name| self.get(name));
        }
        chain
    }

    /// Returns the default model; `None` if each model is for one caller alone.
    pub fn default_model(&self) -> Option<&ModelClient> {
        self.clients.get(self.default?)
    }

    /// Iterates over all models in the order of the settings, including those reserved for one caller.
    pub fn iter(&self) -> std::slice::Iter<'_, ModelClient> {
        self.clients.iter()
    }

    /// Returns notes for the operator about settings that configure a model only partly; they contain no values.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl ParsedModels {
    /// Finds the first model whose fallback does not exist, or is for another caller alone. One for groups is skipped for
    /// the callers that are in none of them.
    fn invalid_fallback(&self) -> Option<&ModelConfig> {
        let can_replace = |one: &ModelConfig, other: &ModelConfig| {
            other.name != one.name && (other.is_shared() || other.only_for == one.only_for)
        };
        let is_valid = |one: &ModelConfig, name: &String| {
            self.configs.iter().any(|other| other.name == *name && can_replace(one, other))
        };
        self.configs.iter().find(|one| one.fallback.as_ref().is_some_and(|name| !is_valid(one, name)))
    }

    /// Sets the prices that are known, in US dollars, unless the operator gives any: all have one currency.
    fn set_known_prices(&mut self) {
        if self.configs.iter().all(|config| config.options.price.is_none()) {
            for config in &mut self.configs {
                config.options.price = providers::provider_of(config).price_of(&config.model);
            }
        }
    }

    /// Returns the index of the default model, which is for several callers; adds a note if there is none.
    fn default_index(&mut self, settings: &Settings) -> Result<Option<usize>, SettingError> {
        let Some(name) = settings.var("DEFAULT_MODEL") else {
            let first = self.configs.iter().position(ModelConfig::is_shared);
            if first.is_none() && !self.configs.is_empty() {
                self.notes.push(NO_DEFAULT_NOTE.to_owned());
            }
            return Ok(first);
        };
        let named = self.configs.iter().position(|one| one.name == name && one.is_shared());
        let accepted =
            || SettingError::new("DEFAULT_MODEL", "the name of a configured model that is not for one caller alone");
        named.ok_or_else(accepted).map(Some)
    }
}

impl<'a> IntoIterator for &'a Models {
    type Item = &'a ModelClient;
    type IntoIter = std::slice::Iter<'a, ModelClient>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests;
