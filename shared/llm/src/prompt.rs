use std::sync::Arc;

use domain::{Message, Owner, ToolChoice, ToolSpec};

use crate::GenerationParams;

/// The input of a model for one reply.
#[derive(Clone, Debug, Default)]
pub struct Prompt {
    /// The system prompt; empty for none.
    pub system: String,
    /// Oldest first; the model replies to the last one.
    pub messages: Vec<Message>,
    /// Sent as native tools; empty if tools are in the prompt or off.
    pub tools: Arc<[ToolSpec]>,
    /// Whether some of the tools or parameters came with the caller's request. A refusal of them is not one of the
    /// model, and changes nothing for other callers.
    pub from_caller: bool,
    /// Sent only together with `tools`.
    pub tool_choice: ToolChoice,
    /// The user of the turn, who is named to the provider by a hash only, where it allocates costs.
    pub owner: Option<Owner>,
    /// Overrides of the operator's options.
    pub params: GenerationParams,
    /// Further stop sequences. They are omitted where there are too many, or where the endpoint accepts none.
    pub stop_markers: &'static [&'static str],
}
