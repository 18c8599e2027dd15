use platform::secrets::Secret;
use serde::{Deserialize, Serialize};

use crate::Options;

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
}

impl Wire {
    /// Returns the wire of the rows with facts about the endpoints: those of `OpenAI`'s two wires are the same.
    pub(crate) fn of_rows(self) -> Self {
        if self == Self::Responses { Self::Openai } else { self }
    }
}

/// How tools are passed to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// In the wire's own fields.
    Native,
    /// In the prompt; the model writes its calls as text.
    #[serde(rename = "text")]
    Prompted,
}

/// One configured model.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// The name that requests use for the model.
    pub name: String,
    /// Without a trailing slash.
    pub base_url: String,
    /// Absent for endpoints without authentication.
    pub api_key: Option<Secret>,
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
    /// The name of the only caller that may use the model; `None` for all callers.
    pub only_for: Option<String>,
    /// The operator's options for its replies.
    pub options: Options,
    /// Whether this is the built-in demonstration.
    pub demo: bool,
}

impl ModelConfig {
    /// A model without a key, with defaults for all that a row may set.
    pub(crate) fn new(name: &str, base_url: &str, model: &str, wire: Wire) -> Self {
        let (name, base_url, model) = (name.to_owned(), base_url.to_owned(), model.to_owned());
        let (api_key, tools, call_format, fallback, only_for) = (None, None, None, None, None);
        let (options, demo) = (Options::default(), false);
        Self { name, base_url, api_key, model, wire, tools, call_format, fallback, only_for, options, demo }
    }
}
