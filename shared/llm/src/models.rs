//! The models of this process, as configured in the settings.

mod builtin;
mod entry;
mod options;
mod url;

use platform::settings::{SettingError, Settings};

use crate::capabilities::MAX_ALLOCATED;
use crate::endpoint::ClientDeps;
use crate::endpoint::Timeouts;
use crate::{ModelClient, ModelConfig, Wire};

const DEMO: &str = "demo";

const MAX_CONTEXT: &str = "OLLAMA_MAX_CONTEXT_TOKENS";

const ACCEPTED_FALLBACK: &str = "the name of another configured model that all callers of this one have";

const NO_DEFAULT_NOTE: &str = "each model has \"onlyFor\": there is no default, and other callers have no model";

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
    /// The names of the models that were left out.
    left_out: Vec<String>,
}

impl Models {
    /// Reads `ARK_*`, `OPENAI_*`, `OLLAMA_*`, `MODELS`, `MODEL_OPTIONS`, `DEFAULT_MODEL` and the timeouts; makes no request.
    ///
    /// An error contains the name of the variable and the accepted values, never its value.
    pub fn from_settings(settings: &Settings, http: platform::transport::Client) -> Result<Self, SettingError> {
        let timeouts = Timeouts::from_settings(settings)?;
        let mut parsed = ParsedModels::default();
        builtin::read(settings, &mut parsed)?;
        entry::read(settings, &mut parsed)?;
        options::read(settings, &mut parsed)?;
        let default = parsed.default_index(settings)?;
        let max_allocated_context = settings.parse_integer(MAX_CONTEXT, 1_024..=1_048_576, MAX_ALLOCATED)?;
        let deps = ClientDeps { max_allocated_context, ..ClientDeps::new(http, timeouts) };
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

    /// Returns the default model; `None` if no model is available to all callers.
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
    /// Finds the first model whose fallback does not exist, or is not available to all callers of the model.
    fn invalid_fallback(&self) -> Option<&ModelConfig> {
        let can_replace = |one: &ModelConfig, other: &ModelConfig| {
            other.name != one.name && (other.only_for.is_none() || other.only_for == one.only_for)
        };
        let is_valid = |one: &ModelConfig, name: &String| {
            self.configs.iter().any(|other| other.name == *name && can_replace(one, other))
        };
        self.configs.iter().find(|one| one.fallback.as_ref().is_some_and(|name| !is_valid(one, name)))
    }

    /// Returns the index of the default model, which all callers may use; adds a note if there is none.
    fn default_index(&mut self, settings: &Settings) -> Result<Option<usize>, SettingError> {
        let for_all = |one: &ModelConfig| one.only_for.is_none();
        let Some(name) = settings.var("DEFAULT_MODEL") else {
            let first = self.configs.iter().position(for_all);
            if first.is_none() && !self.configs.is_empty() {
                self.notes.push(NO_DEFAULT_NOTE.to_owned());
            }
            return Ok(first);
        };
        let named = self.configs.iter().position(|one| one.name == name && for_all(one));
        let accepted = || SettingError::new("DEFAULT_MODEL", "the name of a configured model without \"onlyFor\"");
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
