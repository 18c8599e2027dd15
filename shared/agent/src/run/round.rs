use conversation::{Message, ToolChoice};
use model::{Limits, ModelError, Prompt, ToolPath};

use super::count::Asked;
use super::{Phase, Run};
use crate::failure::Broken;
use crate::prompt::{self, Offer};
use crate::replay;
use crate::step::{self, Reader, Round};

impl Run<'_> {
    /// Asks the model once and reads its reply, while its calls run.
    pub(super) async fn round(&self, phase: &Phase) -> Result<Round, Broken> {
        let said = self.said();
        let prompt = self.prompt(phase, &said);
        let alternative = self.at + 1 < self.turn.models.len();
        let tape = self.recording.as_ref().map(|recording| recording.asked(self.model(), self.path));
        let limits = Limits { deadline: self.turn.context.deadline, alternative, tape };
        let reply = self.model().reply(&prompt, limits).await.map_err(|error| match error {
            ModelError::ToolsUnsupported => Broken::ToolsRefused,
            other => Broken::Model(other),
        })?;
        let reader = Reader {
            events: self.events,
            session: &self.session,
            recording: self.recording.as_deref(),
            declared: &self.specs,
            caller: self.turn.caller.as_ref(),
            tools_on: matches!(phase, Phase::Tools),
            path: self.path,
            may_correct: !self.corrected && matches!(phase, Phase::Tools),
            said: &said,
            alternative,
        };
        self.events.draft().ask(Asked::new(&prompt, self.model().config()));
        let read = step::read(reply, &reader).await;
        self.count(match &read {
            Ok(round) => Some(round),
            Err(Broken::Called(round, _)) => Some(round),
            Err(_) => None,
        });
        read
    }

    pub(super) fn prompt(&self, phase: &Phase, said: &str) -> Prompt {
        let format = calls::format_for(&self.model().config().model);
        let choice = if self.rounds == 0 { &self.turn.tool_choice } else { &ToolChoice::Auto };
        let on = matches!(phase, Phase::Tools);
        let offer = match self.path {
            ToolPath::Native => Offer::Native { on },
            ToolPath::Text if on => Offer::Text { format, tools: &self.specs, choice },
            ToolPath::Text => Offer::Off,
        };
        let system = prompt::system(self.agent.system_prompt.as_deref(), &self.turn.today, &offer);
        let running = self.fitting(self.asked_to_go_on(said), &system);
        let messages: Vec<Message> = self.history.iter().cloned().chain(running).collect();
        // Past calls stand in fields of their own only beside the tools that they called: several endpoints insist.
        if self.is_native() && !self.specs.is_empty() {
            let tool_choice = if on { choice.clone() } else { ToolChoice::None };
            let (messages, tools) = (replay::natively(&messages), self.specs.clone());
            return Prompt { system, messages, tools, tool_choice, wishes: self.wishes() };
        }
        let messages = replay::as_text(&self.guarded(messages), format, &self.turn.nonce);
        Prompt { system, messages, wishes: self.wishes(), ..Prompt::default() }
    }
}
