use llm::{ModelClient, Models, OnlyFor};
use platform::settings::{SettingError, Settings};
use web::{ApiError, AuthConfig, Caller};

/// The model that writes the titles of conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TitleModel {
    /// The one that answers.
    Same,
    /// None: the beginning of the first message is the title.
    None,
    /// The one of this name.
    Named(String),
}

impl TitleModel {
    /// Reads `TITLE_MODEL`.
    pub(crate) fn from_settings(settings: &Settings, models: &Models) -> Result<Self, SettingError> {
        let model =
            settings.parse("TITLE_MODEL", "same, none or the name of a configured model", |text| match text {
                "same" => Some(Self::Same),
                "none" => Some(Self::None),
                name => models.get(name).map(|_| Self::Named(name.to_owned())),
            })?;
        Ok(model.unwrap_or(Self::Same))
    }
}

/// The models that exist for a caller: those for every caller, for one of its groups, and for this one alone.
#[derive(Clone, Copy)]
pub(crate) struct VisibleModels<'a> {
    pub(crate) models: &'a Models,
    pub(crate) auth: &'a AuthConfig,
    pub(crate) caller: &'a Caller,
}

impl<'a> VisibleModels<'a> {
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

    /// The default model; for a caller that may not use it, the first that is not for one caller alone.
    pub(crate) fn default_model(self) -> Option<&'a ModelClient> {
        let default = self.models.default_model().filter(|client| self.is_visible(client));
        default.or_else(|| self.iter().find(|client| client.config().is_shared()))
    }

    /// The requested model, otherwise the agent's, otherwise the default one; then those that take over when it fails.
    /// Models that do not exist for the caller are skipped.
    ///
    /// # Errors
    /// `invalid_request` that names the models that exist.
    pub(crate) fn chain(self, requested: Option<&str>, of_agent: Option<&str>) -> Result<Vec<ModelClient>, ApiError> {
        // An agent outlives the settings, and may be for more groups than its model: without its model, the turn runs with
        // the default one.
        let default = || of_agent.and_then(|name| self.get(name)).or_else(|| self.default_model());
        let first = requested.map_or_else(default, |name| self.get(name)).ok_or_else(|| self.not_found(requested))?;
        let mut chain = self.models.chain(&first.config().name);
        chain.retain(|client| self.is_visible(client));
        Ok(chain)
    }

    /// The model that writes titles of conversations where `first` answers; none if the caller may not use it. The demonstration
    /// writes none: it would repeat the message.
    pub(crate) fn title_model(self, setting: &TitleModel, first: &ModelClient) -> Option<ModelClient> {
        let model = match setting {
            TitleModel::None => None,
            TitleModel::Same => Some(first),
            TitleModel::Named(name) => self.get(name),
        };
        model.filter(|model| !model.config().demo).cloned()
    }

    fn not_found(self, requested: Option<&str>) -> ApiError {
        let names = self.names();
        let message = match requested {
            _ if names.is_empty() => "No model is configured for this caller. The operator configures one with BEDROCK_MODEL, \
                                      ANTHROPIC_API_KEY, GEMINI_API_KEY, ARK_…, OPENAI_…, OLLAMA_… or MODELS, or adds the \
                                      caller to a group that has one."
                .to_owned(),
            Some(_) => format!("`modelType` names no model; there are: {names}"),
            None => format!("There is no default model: `modelType` must be one of: {names}"),
        };
        ApiError::invalid_request(message)
    }

    fn is_visible(self, client: &ModelClient) -> bool {
        match &client.config().only_for {
            None => true,
            Some(OnlyFor::Caller(name)) => self.auth.owner_of(name).as_ref() == Some(&self.caller.owner),
            Some(OnlyFor::Groups(groups)) => self.caller.membership.may_use(groups),
        }
    }
}
