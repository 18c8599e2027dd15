use std::sync::Arc;

use domain::{FinishReason, Message, ToolChoice};
use llm::{CallOptions, ModelError, Prompt, ToolMode};
use tokio::time::timeout_at;

use super::count::Asked;
use super::{Phase, Run};
use crate::failure::Broken;
use crate::prompt::{self, Offer};
use crate::replay;
use crate::step::{self, Closing, Reader, Round};

impl Run<'_> {
    /// Asks the model once and reads its reply, while its calls run.
    pub(super) async fn round(&self, phase: &Phase) -> Result<Round, Broken> {
        let said = self.said();
        let prompt = self.prompt(phase, &said);
        let alternative = self.at + 1 < self.turn.models.len();
        let tape = self.recording.as_ref().map(|recording| recording.asked(self.model(), self.path));
        let limits = CallOptions {
            deadline: self.times.last,
            has_fallback: alternative,
            recorder: tape,
            attempt_log: self.events.attempts(),
        };
        let on = matches!(phase, Phase::Tools);
        let informed = on && self.is_informed();
        let reply = self.model().reply(&prompt, limits);
        let reply = if informed && self.said_nothing() {
            timeout_at(self.times.closing, reply).await.map_err(|_elapsed| Broken::Late(None))?
        } else {
            reply.await
        };
        let reply = reply.map_err(|error| match error {
            ModelError::ToolsUnsupported => Broken::ToolsRefused,
            other => Broken::Model(other),
        })?;
        let reader = Reader {
            events: self.events,
            session: &self.session,
            recording: self.recording.as_deref(),
            declared: &self.specs,
            caller: self.turn.caller.as_ref(),
            tools_on: on,
            closing: Closing { at: self.times.closing, informed },
            path: self.path,
            may_correct: !self.corrected && on,
            said: &said,
            alternative,
        };
        self.events.draft().ask(Asked::new(self.measure(&prompt), self.model().config()));
        let read = step::read(reply, &reader).await;
        self.count(match &read {
            Ok(round) => Some(round),
            Err(Broken::Called(round, _) | Broken::Late(Some(round))) => Some(round),
            Err(_) => None,
        });
        read
    }

    /// Whether a tool has found something in this turn that can be told.
    fn is_informed(&self) -> bool {
        self.messages.iter().any(|message| matches!(message, Message::Tool(result) if result.ok))
    }

    pub(super) fn prompt(&self, phase: &Phase, said: &str) -> Prompt {
        let format = tool_calls::format_for(&self.model().config().model);
        let choice = if self.rounds == 0 { &self.turn.tool_choice } else { &ToolChoice::Auto };
        let on = matches!(phase, Phase::Tools);
        let offer = match self.path {
            ToolMode::Native => Offer::Native { on },
            ToolMode::Prompted if on => Offer::Text { format, tools: &self.specs, choice },
            ToolMode::Prompted => Offer::Off,
        };
        let mut system = prompt::system(self.agent.system_prompt.as_deref(), &self.turn.today, &offer);
        if matches!(phase, Phase::Last(FinishReason::Deadline)) {
            system.push_str(prompt::HURRY);
        }
        let running = self.fitting(self.asked_to_go_on(said), &system);
        let messages: Vec<Message> = self.history.iter().cloned().chain(running).collect();
        // Past calls stand in fields of their own only beside the tools that they called: several endpoints insist.
        if self.is_native() && !self.specs.is_empty() {
            let tool_choice = if on { choice.clone() } else { ToolChoice::None };
            let (messages, tools) = (replay::natively(&messages), Arc::clone(&self.specs));
            return Prompt { system, messages, tools, tool_choice, params: self.wishes() };
        }
        let messages = replay::as_text(&self.guarded(messages), format, &self.turn.nonce);
        Prompt { system, messages, params: self.wishes(), ..Prompt::default() }
    }
}
