use domain::{Event, FinishReason, Message, ToolCall, ToolEvent};
use llm::GenerationParams;

use super::{Phase, Run};

impl Run<'_> {
    /// Ends the turn with calls that the client must run.
    ///
    /// They get new ids: models number their calls from the start in every turn, and a client distinguishes the calls of a
    /// whole conversation by their ids.
    pub(super) fn return_client_calls(&self, calls: Vec<ToolCall>) -> FinishReason {
        let max_calls = if self.turn.client.as_ref().is_some_and(|client| client.one_call) { 1 } else { calls.len() };
        for (number, call) in (1..).zip(calls).take(max_calls) {
            let id = format!("call_{}_{number}", self.turn.id);
            self.events.send(Event::Tool(ToolEvent::ClientCall(Box::new(ToolCall { id, ..call }))));
        }
        FinishReason::ToolCalls
    }

    /// The client's parameters, which override the operator's options.
    pub(super) fn generation_params(&self, phase: &Phase) -> GenerationParams {
        let mut params = self.turn.client.as_ref().map(|client| client.params.clone()).unwrap_or_default();
        if matches!(phase, Phase::Tools) && self.formats_last_round() {
            params.format = None;
        }
        params
    }

    /// Whether only the last round has the format that the client wants, because models in a format make no calls. With
    /// tools of the client every reply may be the last one, so all of them have it.
    pub(super) fn formats_last_round(&self) -> bool {
        self.turn.client.as_ref().is_some_and(|client| client.params.format.is_some() && client.tools.is_empty())
    }

    /// Whether tools or parameters of prompts came with the client's request.
    pub(super) fn has_client_input(&self) -> bool {
        let client = self.turn.client.as_ref();
        client.is_some_and(|it| !it.tools.is_empty() || it.params != GenerationParams::default())
    }

    /// The messages for a prompt that is text only.
    pub(super) fn sanitised(&self, messages: Vec<Message>) -> Vec<Message> {
        let Some(client) = &self.turn.client else { return messages };
        messages.into_iter().map(|message| client.sanitised(message, &self.agent.tools)).collect()
    }
}
