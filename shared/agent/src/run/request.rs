//! The prompt of a round, and the call of its model.

use std::sync::Arc;
use std::time::SystemTime;

use domain::{Attachment, FinishReason, Message, ToolChoice};
use llm::{CallOptions, ModelError, Prompt, ResponseRecorder, ToolMode};
use tokio::time::timeout_at;
use tool_calls::CallFormat;

use super::{Phase, Pictures, Run};
use crate::attached::without_pictures;
use crate::compactness::is_compact;
use crate::estimate::{self, TextSize};
use crate::message_format;
use crate::prompt::{self, SystemPrompt, ToolOffer};
use crate::reply::{self, GiveUp, InventionDetector, ReplyOptions, UnshownReason};
use crate::round::{Correction, Round, RoundError};
use crate::tokens::Family;
use crate::usage::PendingReply;

impl Run<'_> {
    /// Calls the model and reads its reply, while its calls run. A reply that fails while all its text is held back is requested
    /// again like one that fails before its first delta.
    pub(super) async fn round(&self, phase: &Phase) -> Result<Round, RoundError> {
        let (recorder, attempts) = (self.response_recorder(), self.events.attempts());
        let mut is_repeated = false;
        loop {
            let round = self.read_reply(phase, recorder.clone(), is_repeated).await;
            is_repeated = matches!(round, Err(RoundError::Model(_))) && attempts.has_failed_reply();
            if !is_repeated || self.events.turn_state().has_reply() {
                return round;
            }
        }
    }

    async fn read_reply(
        &self,
        phase: &Phase,
        recorder: Option<Arc<dyn ResponseRecorder>>,
        is_repeated: bool,
    ) -> Result<Round, RoundError> {
        self.events.discard_held();
        let partial_text = self.partial_text();
        let prompt = self.prompt(phase, &partial_text);
        let has_fallback = self.model_index + 1 < self.turn.models.len();
        let call_options = CallOptions {
            deadline: self.deadlines.model_until,
            has_fallback,
            is_optional: false,
            recorder,
            attempt_log: self.events.attempts(),
            is_repeated,
        };
        let tools_on = matches!(phase, Phase::Tools);
        let has_results = tools_on && self.has_results();
        let reply = self.model().reply(&prompt, call_options);
        let reply = if has_results && self.has_no_text() {
            timeout_at(self.deadlines.tools_until, reply).await.map_err(|_elapsed| RoundError::GaveUp(None))?
        } else {
            reply.await
        };
        let reply = reply.map_err(|error| match error {
            ModelError::ToolsUnsupported => RoundError::ToolsRejected,
            other => RoundError::Model(other),
        })?;
        let origin = self.model().origin();
        let options = ReplyOptions {
            events: self.events,
            origin: &origin,
            session: &self.session,
            model: self.model(),
            recorder: self.recorder.as_deref(),
            specs: &self.specs,
            client: self.turn.client.as_ref(),
            tools_on,
            give_up: GiveUp { at: self.deadlines.tools_until, has_results },
            tool_mode: self.tool_mode,
            corrected: &self.corrected,
            finds_inventions: tools_on && self.may_correct(&Correction::Invention) && self.has_nothing_to_report(),
            unshown: self.unshown(phase),
            previous_text: &partial_text,
            has_fallback,
        };
        self.events.turn_state().start_reply(PendingReply::new(self.prompt_size(&prompt), self.model().config()));
        let read = reply::read(reply, &options).await;
        self.record_usage(match &read {
            Ok(round) => Some(round),
            Err(RoundError::AfterCalls(round, _) | RoundError::GaveUp(Some(round))) => Some(round),
            Err(_) => None,
        });
        read
    }

    /// Whether the text of the reply is held. A required call may be missing once, and is requested again then; endpoints
    /// enforce it for native tools.
    fn unshown(&self, phase: &Phase) -> Option<UnshownReason> {
        let is_forced = matches!(self.turn.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
        let may_lack_call = is_forced && !self.is_native() && self.rounds == 0;
        match phase {
            Phase::Tools if self.formats_last_round() => Some(UnshownReason::Draft),
            Phase::Tools if may_lack_call && self.may_correct(&Correction::NoCall(String::new())) => {
                Some(UnshownReason::RequiredCall)
            }
            Phase::Tools | Phase::Last(_) => None,
        }
    }

    /// A recorder of the next response of the current model, if the turn is recorded.
    pub(super) fn response_recorder(&self) -> Option<Arc<dyn ResponseRecorder>> {
        self.recorder.as_ref().and_then(|recorder| recorder.on_model_call(self.model(), self.tool_mode))
    }

    /// Whether a tool returned a result in this turn that an answer can use.
    fn has_results(&self) -> bool {
        self.messages.iter().any(|message| matches!(message, Message::Tool(result) if result.ok))
    }

    /// Whether a report of results must be made up: no tool has returned any, the conversation has no numbered page, and
    /// no message or custom prompt mentions citations or results, which a reply could quote.
    fn has_nothing_to_report(&self) -> bool {
        let own_prompts =
            [self.agent.system_prompt.as_ref(), self.agent.added_prompt.as_ref(), Some(&self.turn.instructions)];
        let is_mentioned = |message: &Message| match message {
            Message::User { text, .. } | Message::Assistant { text, .. } => InventionDetector::is_mentioned(text),
            Message::Tool(_) => true,
        };
        // Numbers of pages begin at 1.
        self.turn.context.sources.peek("") == 1
            && !own_prompts.into_iter().flatten().any(|prompt| InventionDetector::is_mentioned(prompt))
            && !self.history.iter().any(is_mentioned)
            && !self.messages.iter().any(is_mentioned)
    }

    /// The prompt of the next round; the model continues from `partial_text`.
    pub(super) fn prompt(&self, phase: &Phase, partial_text: &str) -> Prompt {
        let choice = if self.rounds == 0 { &self.turn.tool_choice } else { &ToolChoice::Auto };
        let tools_on = matches!(phase, Phase::Tools);
        let system = self.system_prompt().to_string();
        let closing = self.closing(phase);
        let mut current = self.fit_messages(self.messages_to_continue(partial_text), &system, closing);
        self.add_instructions(closing, &mut current);
        let current = self.with_reference(current);
        let mut messages: Vec<Message> = self.history.iter().cloned().chain(current).collect();
        let takes_none =
            self.pictures == Pictures::Named || self.model().takes_images(SystemTime::now()) == Some(false);
        let takes = |file: &Attachment| !takes_none && self.model().takes_picture(&file.media_type, file.bytes);
        for message in &mut messages {
            without_pictures(message, takes);
        }
        let (params, from_caller) = (self.generation_params(phase), self.has_client_input());
        let owner = Some(self.turn.context.owner.clone());
        if self.sends_native_tools(phase) {
            let tool_choice = if tools_on { choice.clone() } else { ToolChoice::None };
            let (messages, tools) = (message_format::to_native(&messages), Arc::clone(&self.specs));
            return Prompt { system, messages, tools, tool_choice, owner, params, from_caller, ..Prompt::default() };
        }
        let messages = self.to_text(&self.sanitised(messages));
        let stop_markers = if tools_on && !self.specs.is_empty() { tool_calls::STOP_SEQUENCES } else { &[] };
        Prompt { system, messages, owner, params, from_caller, stop_markers, ..Prompt::default() }
    }

    pub(super) fn system_prompt(&self) -> Arc<str> {
        let prompt = SystemPrompt {
            language: self.turn.context.language,
            is_compact: is_compact(self.model().context_tokens()),
            agent_prompt: self.agent.system_prompt_in(self.turn.context.language),
            added_prompt: self.agent.added_prompt.as_deref(),
            searches_deeply: self.agent.searches_deeply,
            today: &self.turn.today,
            zone: self.turn.context.time_zone.name(),
            offer: self.tool_offer(),
        };
        let max_chars = usize::try_from(self.model().context_tokens() / 8).unwrap_or(usize::MAX);
        let instructions: String = self.turn.instructions.chars().take(max_chars).collect();
        prompt::with_instructions(self.texts, self.agent.prompts.system(&prompt, &self.specs), &instructions)
    }

    /// Whether a request has the tools in its own field.
    ///
    /// Several endpoints accept past calls in native fields only together with the tools that they called, and tools not
    /// together with a format. A model that calls them although they are off is not given them again.
    pub(super) fn sends_native_tools(&self, phase: &Phase) -> bool {
        let may_offer = matches!(phase, Phase::Tools) || !self.formats_last_round();
        self.is_native() && !self.specs.is_empty() && may_offer && self.may_correct(&Correction::ToolsOff)
    }

    /// The tools that the system prompt offers: the same in all rounds and turns, because providers cache its beginning.
    fn tool_offer(&self) -> ToolOffer<'_> {
        match self.tool_mode {
            ToolMode::Native => ToolOffer::Native { callable: self.offers_tools() },
            ToolMode::Prompted if self.offers_tools() => {
                ToolOffer::Text { format: self.call_format(), tools: &self.specs }
            }
            ToolMode::Prompted => ToolOffer::None,
        }
    }

    /// Whether the turn has tools, also in its last round.
    fn offers_tools(&self) -> bool {
        !self.specs.is_empty() && !self.has_reference
    }

    /// What the last message of a round without tools ends with; empty for other rounds.
    fn closing(&self, phase: &Phase) -> &'static str {
        match phase {
            Phase::Last(FinishReason::Deadline) => self.texts.time_is_short,
            Phase::Last(FinishReason::ToolLimit) => self.texts.tools_off,
            Phase::Last(_) | Phase::Tools => "",
        }
    }

    /// Adds what holds for this turn or this round only: which tool the turn must call, and that no more may be called.
    fn add_instructions(&self, closing: &str, messages: &mut Vec<Message>) {
        let is_taught = !self.is_native() && self.offers_tools();
        let required = prompt::requirement(self.texts, &self.turn.tool_choice).filter(|_| is_taught);
        if let (Some(required), Some(Message::User { text, .. })) = (required, messages.first_mut()) {
            text.push_str("\n\n");
            text.push_str(&required);
        }
        match messages.last_mut() {
            _ if closing.is_empty() => {}
            // On several wires a user message would start a turn, to which the reasoning before these results does not belong.
            Some(Message::Tool(result)) if self.is_native() => {
                result.content.push_str("\n\n");
                result.content.push_str(closing);
            }
            _ => messages.push(Message::user(closing)),
        }
    }

    /// The messages with calls and results as text, in the format of the current model.
    pub(super) fn to_text(&self, messages: &[Message]) -> Vec<Message> {
        message_format::to_text(self.texts, messages, self.call_format())
    }

    fn call_format(&self) -> &'static CallFormat {
        let config = self.model().config();
        tool_calls::format_of(config.call_format.as_deref(), &config.model)
    }

    pub(super) fn prompt_size(&self, prompt: &Prompt) -> TextSize {
        let family = self.family();
        let size = estimate::text(family, &prompt.system) + estimate::messages(family, &prompt.messages);
        if prompt.tools.is_empty() { size } else { size + self.tools_size() }
    }

    pub(super) fn tools_size(&self) -> TextSize {
        self.agent.prompts.tools(self.family(), &self.specs)
    }

    pub(super) fn family(&self) -> Family {
        Family::of(&self.model().config().model)
    }

    /// Adds the usage of a reply to the draft; of an interrupted reply, an estimate of what was received.
    pub(super) fn record_usage(&self, round: Option<&Round>) {
        let mut state = self.events.turn_state();
        match (round, state.pending) {
            (Some(round), Some(pending)) => {
                let (text, thinking) = state.reply();
                let calls = round.calls.iter().chain(&round.client_calls);
                let usage = pending.usage(estimate::reply(pending.family, &text, &thinking, calls), round.usage);
                state.usage.join(usage);
                let attempts = state.attempts.records().len();
                state.reply_usages.push((attempts, usage));
            }
            _ => state.usage = state.usage_without_prefetch(),
        }
        state.pending = None;
    }
}
