use secrets::Secret;
use serde::{Deserialize, Serialize};

use crate::Options;

/// The protocol that an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wire {
    /// `POST {base}/chat/completions`, server-sent events.
    #[default]
    Openai,
    /// Ollama's `POST {base}/api/chat`, JSON lines.
    Ollama,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `streamGenerateContent`.
    Gemini,
}

/// How a model's tools are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolsMode {
    /// As the capability map knows.
    #[default]
    Auto,
    /// Native tool calling.
    Native,
    /// Calls written as text.
    Prompt,
}

/// One configured model.
#[derive(Clone, Debug)]
pub struct ModelConfig {
    /// The name by which requests choose it.
    pub name: String,
    /// Without a trailing slash.
    pub base_url: String,
    /// Absent for endpoints without authentication.
    pub api_key: Option<Secret>,
    /// The endpoint's own name for the model.
    pub model: String,
    /// The protocol.
    pub wire: Wire,
    /// As configured.
    pub tools: ToolsMode,
    /// The name of the model that takes over when this one fails.
    pub fallback: Option<String>,
    /// The name of the one caller for whom it exists; `None` for everybody.
    pub only_for: Option<String>,
    /// What the operator chose for its replies.
    pub options: Options,
    /// Whether this is the built-in demonstration.
    pub demo: bool,
}
