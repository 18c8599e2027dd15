//! The models that exist for a caller: those for everybody, and those for this one alone.

use conversation::ErrorCode;
use model::ModelClient;
use store::Owner;
use web::ApiError;

use crate::App;

/// What a caller may choose from.
#[derive(Clone, Copy)]
pub(crate) struct Offered<'a> {
    app: &'a App,
    owner: &'a Owner,
}

impl App {
    /// The models that exist for a caller.
    pub(crate) fn models_for<'a>(&'a self, owner: &'a Owner) -> Offered<'a> {
        Offered { app: self, owner }
    }
}

impl<'a> Offered<'a> {
    /// All, in the order of the settings.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'a ModelClient> {
        self.app.config.models.iter().filter(move |client| self.has(client))
    }

    /// The model of that name.
    pub(crate) fn get(self, name: &str) -> Option<&'a ModelClient> {
        self.app.config.models.get(name).filter(|client| self.has(client))
    }

    /// The names of all, for people to read.
    pub(crate) fn names(self) -> String {
        self.iter().map(|client| client.config().name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The model that a request names, else the agent's, else the default one; then those that take over when it fails.
    ///
    /// # Errors
    /// `invalid_request` that names those that exist.
    pub(crate) fn chain(self, wanted: Option<&str>, of_agent: Option<&str>) -> Result<Vec<ModelClient>, ApiError> {
        let models = &self.app.config.models;
        // An agent outlives the settings: a model that is gone from them is no reason to refuse the turn.
        let fitting = || of_agent.and_then(|name| self.get(name)).or_else(|| models.default_model());
        let found = wanted.map_or_else(fitting, |name| self.get(name));
        let found = found.ok_or_else(|| {
            let sentence = format!("`modelType` names no model; there are: {}", self.names());
            ApiError::new(ErrorCode::InvalidRequest, sentence)
        })?;
        Ok(models.chain(&found.config().name))
    }

    fn has(self, client: &ModelClient) -> bool {
        let only_for = client.config().only_for.as_deref();
        only_for.is_none_or(|name| self.app.config.auth.owner(name).as_ref() == Some(self.owner))
    }
}
