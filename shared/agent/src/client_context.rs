use std::sync::Arc;

use domain::{Language, Message, ToolMessage, ToolSpec};
use llm::GenerationParams;
use tools::ToolRegistry;

/// Input of a client that keeps its conversation itself.
#[derive(Clone, Debug, Default)]
pub struct ClientContext {
    /// Messages after the user message: calls of the client's tools, and their results.
    pub trailing_messages: Vec<Message>,
    /// Tools that the client runs. They take precedence over tools of the agent with the same name.
    pub tools: Vec<ToolSpec>,
    /// Whether only one of them may be called at a time.
    pub one_call: bool,
    /// Overrides the operator's options.
    pub params: GenerationParams,
}

impl ClientContext {
    /// The agent's and the client's tools, as models are given them.
    pub(crate) fn merge_tools(&self, agent_tools: &ToolRegistry, language: Language) -> Arc<[ToolSpec]> {
        let others = agent_tools.specs(language).iter().filter(|spec| !self.has_tool(&spec.name));
        others.chain(&self.tools).cloned().collect()
    }

    /// Whether the client runs the tool of that name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|spec| spec.name == name)
    }

    /// The message with results of the client's tools escaped, for prompts in which calls are written as text. Unlike
    /// results of the agent's own tools, they are not escaped yet.
    pub(crate) fn sanitised(&self, message: Message, agent_tools: &ToolRegistry) -> Message {
        match message {
            Message::Tool(result) if self.has_tool(&result.name) || !agent_tools.has(&result.name) => {
                Message::Tool(ToolMessage { content: tool_calls::escape(&result.content), ..result })
            }
            other => other,
        }
    }
}
