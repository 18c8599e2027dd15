use std::sync::Arc;

use domain::{Message, ToolMessage, ToolSpec};
use llm::GenerationParams;
use tools::ToolRegistry;

/// What a caller brings along who keeps the conversation himself.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// What came after the user's words: calls of the caller's tools, and their results.
    pub since: Vec<Message>,
    /// Tools that the caller runs; where the agent has one of the same name, the caller's is meant.
    pub tools: Vec<ToolSpec>,
    /// Whether only one of them may be called at a time.
    pub one_call: bool,
    /// What holds over the operator's options.
    pub wishes: GenerationParams,
}

impl Caller {
    /// The agent's tools and the caller's, as models are told of them.
    pub(crate) fn beside(&self, agents: &ToolRegistry) -> Arc<[ToolSpec]> {
        let others = agents.specs().iter().filter(|spec| !self.has(&spec.name));
        others.chain(&self.tools).cloned().collect()
    }

    /// Whether it runs the tool of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|spec| spec.name == name)
    }

    /// The message with what a tool of the caller answered made harmless where calls are written as text: nobody has
    /// looked at it, other than at what the agent's own tools answer.
    pub(crate) fn guarded(&self, message: Message, agents: &ToolRegistry) -> Message {
        match message {
            Message::Tool(result) if self.has(&result.name) || !agents.has(&result.name) => {
                Message::Tool(ToolMessage { content: tool_calls::escape(&result.content), ..result })
            }
            other => other,
        }
    }
}
