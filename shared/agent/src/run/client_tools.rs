//! Calls of tools that the client runs.

use domain::{Event, FinishReason, Message, ToolCall};
use llm::GenerationParams;

use super::Run;
use crate::ClientContext;

impl Run<'_> {
    /// Ends the turn with calls that the client must run.
    ///
    /// They get new ids: models number their calls from the start in every turn, and a client distinguishes the calls of a
    /// whole conversation by their ids.
    pub(super) fn return_client_calls(&self, calls: Vec<ToolCall>) -> FinishReason {
        let max_calls = if self.turn.client.as_ref().is_some_and(|client| client.one_call) { 1 } else { calls.len() };
        for (number, call) in (1..).zip(calls).take(max_calls) {
            let id = format!("call_{}_{number}", self.turn.id);
            self.events.send(Event::ClientToolCall(Box::new(ToolCall { id, ..call })));
        }
        FinishReason::ToolCalls
    }

    /// The client's parameters, which override the operator's options.
    pub(super) fn generation_params(&self) -> GenerationParams {
        self.turn.client.as_ref().map(|client| client.params.clone()).unwrap_or_default()
    }

    /// Whether tools or parameters of prompts came with the client's request.
    pub(super) fn has_client_input(&self) -> bool {
        let has_input =
            |client: &ClientContext| !client.tools.is_empty() || client.params != GenerationParams::default();
        self.turn.client.as_ref().is_some_and(has_input)
    }

    /// The messages for a prompt that is text only.
    pub(super) fn sanitised(&self, messages: Vec<Message>) -> Vec<Message> {
        let Some(client) = &self.turn.client else { return messages };
        messages.into_iter().map(|message| client.sanitised(message, &self.agent.tools)).collect()
    }
}
