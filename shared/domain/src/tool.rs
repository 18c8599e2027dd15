use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool's declaration for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// `snake_case`, unique among the tools of a turn.
    pub name: String,
    /// What the tool does and when to use it.
    pub description: String,
    /// A JSON Schema of type `object`.
    pub parameters: Value,
    /// Worked examples for the prompt of models that write calls as text.
    #[serde(skip)]
    pub examples: Vec<ToolExample>,
}

/// A user message and the arguments of the call that answers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolExample {
    /// An example of a user message.
    pub question: String,
    /// The arguments of the call that answers it; an object.
    pub arguments: Value,
}

/// A complete call that a model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within its turn.
    pub id: String,
    /// As the model wrote it; a tool of that name may not exist.
    pub name: String,
    /// An object in every call that can run; any other value is rejected as `invalid_arguments`.
    pub arguments: Value,
}

/// The result of a call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolMessage {
    /// The `id` of the call.
    pub call_id: String,
    /// The name in the call.
    pub name: String,
    /// Whether the call succeeded.
    pub ok: bool,
    /// The text given to the model.
    pub content: String,
}

impl ToolMessage {
    /// The text of a failure that is rendered as an error; failed searches mark themselves with `<search_error>`.
    pub fn error(&self) -> Option<&str> {
        (!self.ok && !self.content.starts_with("<search_error>")).then_some(self.content.as_str())
    }
}

/// Why a call failed; shown to the user. The model receives a separate text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFailure {
    /// `unknown_tool`, `invalid_arguments`, `rate_limited`, `quota_exhausted`, `timeout` or `failed`.
    pub code: String,
    /// One sentence without secrets, addresses or user text.
    pub message: String,
}

/// How much a turn searches the web.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchMode {
    /// Neither searches nor pages.
    Off,
    /// The model decides.
    #[default]
    Auto,
    /// Several searches and pages before the answer.
    Deep,
}

/// Whether and which tool the model must call in the first round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tools in this turn.
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(String),
}
