use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a model is told about a tool.
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

/// A question and the arguments with which the tool should be called for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolExample {
    /// What a user might say.
    pub question: String,
    /// The arguments of the call that answers it; an object.
    pub arguments: Value,
}

/// A complete call that a model made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within its turn.
    pub id: String,
    /// As the model wrote it; no tool of that name need exist.
    pub name: String,
    /// An object in every call that can run; another value is refused as `invalid_arguments`.
    pub arguments: Value,
}

/// What a tool answered, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The `id` of the call.
    pub call_id: String,
    /// The name in the call.
    pub name: String,
    /// Whether the tool did what was asked.
    pub ok: bool,
    /// The text given to the model.
    pub content: String,
}

/// Why a call gave no result; shown to the user, and told to the model in words of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolFailure {
    /// `unknown_tool`, `invalid_arguments`, `rate_limited`, `quota_exhausted`, `timeout` or `failed`.
    pub code: String,
    /// One sentence that holds no secret, no address and nothing the user wrote.
    pub message: String,
}

/// Whether and which tool the model shall call in the first round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
