use domain::{ErrorCode, Owner};
use llm::{ModelClient, Models};
use web::{ApiError, AuthConfig};

/// The models that exist for an owner: those for all owners, and those for this one alone.
#[derive(Clone, Copy)]
pub(crate) struct VisibleModels<'a> {
    models: &'a Models,
    auth: &'a AuthConfig,
    owner: &'a Owner,
}

impl<'a> VisibleModels<'a> {
    pub(crate) fn new(models: &'a Models, auth: &'a AuthConfig, owner: &'a Owner) -> Self {
        Self { models, auth, owner }
    }

    /// All, in the order of the settings.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a ModelClient> {
        self.models.iter().filter(move |client| self.is_visible(client))
    }

    pub(crate) fn get(self, name: &str) -> Option<&'a ModelClient> {
        self.models.get(name).filter(|client| self.is_visible(client))
    }

    /// The names of all, for an error message.
    pub(crate) fn names(self) -> String {
        self.iter().map(|client| client.config().name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The requested model, otherwise the agent's, otherwise the default one; then those that take over when it fails.
    ///
    /// # Errors
    /// `invalid_request` that names the models that exist.
    pub(crate) fn chain(self, requested: Option<&str>, of_agent: Option<&str>) -> Result<Vec<ModelClient>, ApiError> {
        // An agent outlives the settings: if its model is no longer configured, the turn runs with the default one.
        let default = || of_agent.and_then(|name| self.get(name)).or_else(|| self.models.default_model());
        let first = requested.map_or_else(default, |name| self.get(name)).ok_or_else(|| self.not_found(requested))?;
        Ok(self.models.chain(&first.config().name))
    }

    fn not_found(self, requested: Option<&str>) -> ApiError {
        let names = self.names();
        let message = match requested {
            _ if names.is_empty() => "No model is configured for this caller. The operator configures one with the \
                                      settings ARK_API_KEY and ARK_MODEL, OPENAI_…, OLLAMA_… or MODELS."
                .to_owned(),
            Some(_) => format!("`modelType` names no model; there are: {names}"),
            None => format!("There is no default model: `modelType` must be one of: {names}"),
        };
        ApiError::new(ErrorCode::InvalidRequest, message)
    }

    fn is_visible(self, client: &ModelClient) -> bool {
        let only_for = client.config().only_for.as_deref();
        only_for.is_none_or(|name| self.auth.owner_of(name).as_ref() == Some(self.owner))
    }
}
