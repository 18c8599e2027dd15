use domain::Groups;
use platform::secrets::Secret;
use serde::{Deserialize, Serialize};

use crate::{Options, ToolMode};

/// The protocol that an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// `POST {base}/chat/completions`, server-sent events.
    #[default]
    Openai,
    /// `OpenAI`'s `POST {base}/responses`.
    Responses,
    /// Ollama's `POST {base}/api/chat`, JSON lines.
    Ollama,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `streamGenerateContent`.
    Gemini,
    /// Amazon Bedrock's `POST {base}/model/{model}/converse-stream`, binary event stream.
    Converse,
}

/// How requests are authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Auth {
    /// By the key of the row, in the header of the wire; without a key by nothing.
    #[default]
    Key,
    /// Signed with the AWS credentials of the process.
    Aws,
    /// By the header `api-key`, or a token of Entra ID.
    Azure,
    /// By an access token of a Google service account or of workload identity federation.
    Google,
}

/// A cloud that serves models of several providers over several wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cloud {
    /// Amazon Bedrock.
    Bedrock,
    /// Azure `OpenAI` and Foundry.
    Azure,
    /// Vertex AI.
    Vertex,
}

impl Wire {
    /// Returns the wire of the rows with facts about the endpoints: those of `OpenAI`'s two wires are the same.
    pub(crate) fn of_rows(self) -> Self {
        if self == Self::Responses { Self::Openai } else { self }
    }
}

/// Who may use a model that is not for every caller.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OnlyFor {
    /// The caller of this name.
    Caller(String),
    /// The members of these groups.
    Groups(Groups),
}

impl OnlyFor {
    /// The names, with commas between them; blank if nobody is named.
    pub fn names(&self) -> String {
        match self {
            Self::Caller(name) => name.clone(),
            Self::Groups(groups) => groups.names().join(", "),
        }
    }
}

/// One configured model.
#[derive(Clone, Debug, Default)]
pub struct ModelConfig {
    /// The name that requests use for the model.
    pub name: String,
    /// Without a trailing slash.
    pub base_url: String,
    /// Absent for endpoints without authentication.
    pub api_key: Option<Secret>,
    /// How requests are authenticated.
    pub auth: Auth,
    /// The AWS region of the endpoint, for signatures.
    pub region: Option<String>,
    /// The cloud that serves the model, if any.
    pub cloud: Option<Cloud>,
    /// The endpoint's own name for the model.
    pub model: String,
    /// The protocol.
    pub wire: Wire,
    /// How tools are passed, as configured; `None` if the table, the provider's list and earlier rejections decide.
    pub tools: Option<ToolMode>,
    /// The name of the text format in which the prompt teaches calls; `None` for that of the model's family.
    pub call_format: Option<String>,
    /// The name of the model to use if this one fails.
    pub fallback: Option<String>,
    /// Who may use the model; `None` for all callers.
    pub only_for: Option<OnlyFor>,
    /// The operator's options for its replies.
    pub options: Options,
    /// Whether this is the built-in demonstration.
    pub demo: bool,
}

impl ModelConfig {
    /// Whether the model is for several callers, and so may be a default or that of an agent.
    pub fn is_shared(&self) -> bool {
        !matches!(self.only_for, Some(OnlyFor::Caller(_)))
    }

    /// A model without a key, with defaults for all that a row may set.
    pub(crate) fn new(name: &str, base_url: &str, model: &str, wire: Wire) -> Self {
        let (name, base_url, model) = (name.to_owned(), base_url.to_owned(), model.to_owned());
        Self { name, base_url, model, wire, ..Self::default() }
    }
}
