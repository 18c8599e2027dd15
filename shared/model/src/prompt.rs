use std::sync::Arc;

use conversation::{Message, ToolChoice, ToolSpec};

use crate::Wishes;

/// What a model is asked.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The system prompt; empty for none.
    pub system: String,
    /// Oldest first; ends with what the model shall answer.
    pub messages: Vec<Message>,
    /// Sent as native tools; empty on the text path and with tools off.
    pub tools: Arc<[ToolSpec]>,
    /// Sent only together with `tools`.
    pub tool_choice: ToolChoice,
    /// What the request chooses over the operator's options.
    pub wishes: Wishes,
}
