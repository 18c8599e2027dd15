use serde::{Deserialize, Serialize};

use crate::{ToolCall, ToolResult};

/// One entry of what a model reads: what a person said, what a model said, or what a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The user's words.
    User {
        /// Plain text, never scanned for calls.
        text: String,
    },
    /// A model's reply.
    Assistant {
        /// What was shown to the user, without any call.
        text: String,
        /// The reasoning that came with it; empty if there was none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        thinking: String,
        /// The calls of this reply, in the order in which the model wrote them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The answer to one call of the assistant message before it.
    Tool(ToolResult),
}
