mod after_call;
mod invention;
mod open_thinking;
mod text;
mod unshown;

use std::mem::{Discriminant, discriminant};

use domain::{AnswerDelta, Event, ProviderData, ToolCall, ToolEvent};
use llm::{Delta, Finish, ModelClient, ModelError, NativeCall, TokenUsage, ToolMode};
use serde_json::Value;
use tool_calls::{
    CallScanner, Malformed, MalformedReason, ParsedCall, ReplyEnd, ReplyPart, ResultBlocks, Segment, ThinkingFilter,
};
use tools::ToolRun;

use self::after_call::AfterCall;
pub(crate) use self::invention::InventionDetector;
use self::open_thinking::{initially_unshown, opens_in_thinking};
use self::text::log_dropped;
pub(crate) use self::unshown::UnshownReason;
use self::unshown::UnshownText;
use super::ReplyOptions;
use crate::EventLog;
use crate::continuation::ContinuationTrimmer;
use crate::round::{Correction, Round, RoundError};

/// Maximum number of calls of one reply that run. The next one is rejected, and later ones are dropped.
pub(super) const MAX_RUN_CALLS: usize = 127;

pub(super) struct ReplyState {
    events: EventLog,
    client_tools: Vec<String>,
    tools_on: bool,
    tool_mode: ToolMode,
    /// The kinds of corrections that were requested in this turn.
    corrected: Vec<Discriminant<Correction>>,
    model: ModelClient,
    filter: Option<ThinkingFilter>,
    scanner: Option<CallScanner>,
    /// Empty between deltas; kept to reuse its memory, as is `segments`.
    parts: Vec<ReplyPart>,
    segments: Vec<Segment>,
    calls: Vec<ToolCall>,
    pub(super) client_calls: Vec<ToolCall>,
    /// Calls in the text of a reply that may still contain native calls.
    held: Vec<ParsedCall>,
    /// Whether there were native calls, which the text may repeat.
    has_native_calls: bool,
    trimmer: ContinuationTrimmer,
    unshown: Option<UnshownText>,
    /// Set if no tool has returned a result that the reply can report.
    detector: Option<InventionDetector>,
    /// The rest of a reply with prompted tools after its last call.
    after_call: Option<AfterCall>,
    pub(super) is_over: bool,
    correction: Option<Correction>,
    finish: Option<Finish>,
    usage: Option<TokenUsage>,
    provider_data: ProviderData,
}

impl ReplyState {
    pub(super) fn new(options: &ReplyOptions<'_>) -> Self {
        let client_tools = options.client.iter().flat_map(|client| &client.tools).map(|tool| tool.name.clone());
        let scanner = scanner(options);
        Self {
            events: options.events.clone(),
            client_tools: client_tools.collect(),
            tools_on: options.tools_on,
            tool_mode: options.tool_mode,
            corrected: options.corrected.to_vec(),
            filter: Some(thinking_filter(options, &scanner)),
            model: options.model.clone(),
            scanner: Some(scanner),
            parts: Vec::new(),
            segments: Vec::new(),
            calls: Vec::new(),
            client_calls: Vec::new(),
            held: Vec::new(),
            has_native_calls: false,
            trimmer: ContinuationTrimmer::new(options.previous_text),
            unshown: initially_unshown(options),
            detector: options.finds_inventions.then(InventionDetector::default),
            after_call: None,
            is_over: false,
            correction: None,
            finish: None,
            usage: None,
            provider_data: ProviderData { origin: options.origin.to_owned(), ..ProviderData::default() },
        }
    }

    /// Applies one delta; returns the calls that must run now.
    pub(super) fn apply(&mut self, delta: Delta) -> Vec<ToolCall> {
        match delta {
            _ if self.is_over => Vec::new(),
            Delta::Text(text) => self.text(text),
            Delta::Thinking(delta) => {
                self.filter.iter_mut().for_each(ThinkingFilter::expect_answer);
                self.show_possible_reasoning();
                self.think(delta);
                Vec::new()
            }
            Delta::Call(call) => self.native_call(call).into_iter().collect(),
            Delta::CutCall => {
                self.has_native_calls = true;
                let reason = MalformedReason::Truncated;
                self.correction = Some(Correction::Malformed(Malformed { raw: String::new(), reason }));
                Vec::new()
            }
            Delta::Reasoning(item) => {
                self.provider_data.reasoning.push(*item);
                Vec::new()
            }
            Delta::Usage(usage) => {
                self.usage = Some(usage);
                Vec::new()
            }
            Delta::Finish(finish) => self.end(finish),
        }
    }

    /// Ends the text: what is still held becomes a call or text.
    fn end(&mut self, finish: Finish) -> Vec<ToolCall> {
        self.finish = Some(finish);
        let is_unclosed = self.filter.as_ref().is_some_and(ThinkingFilter::is_in_reasoning);
        let opened_by_prompt = self.filter.as_ref().is_some_and(ThinkingFilter::is_in_open_thinking);
        let is_thought = self.filter.as_ref().is_some_and(ThinkingFilter::is_in_thought);
        let mut parts = self.filter.take().map(ThinkingFilter::finish).unwrap_or_default();
        let mut calls = self.parts(&mut parts);
        let end = if finish == Finish::Length { ReplyEnd::Truncated } else { ReplyEnd::Complete };
        let mut segments = self.scanner.take().map(|scanner| scanner.finish(end)).unwrap_or_default();
        calls.extend(self.segments(&mut segments));
        // A model with native calls may repeat them in its text, which is then dropped.
        if !self.has_native_calls {
            for parsed in std::mem::take(&mut self.held) {
                calls.extend(self.accept(String::new(), parsed.name, parsed.arguments));
            }
        }
        if (is_unclosed || is_thought) && calls.is_empty() && finish != Finish::Length {
            self.show_unclosed_thinking(opened_by_prompt);
        }
        self.end_unshown(finish);
        if let Some((text, invention)) = self.detector.as_mut().map(InventionDetector::finish) {
            self.show_up_to_invention(text, invention);
            self.end_unshown(finish);
        }
        self.emit_held();
        self.events.append_held();
        calls
    }

    fn native_call(&mut self, call: NativeCall) -> Option<ToolCall> {
        self.has_native_calls = true;
        if self.has_enough_calls() {
            return None;
        }
        let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
        // Arguments that cannot be parsed stay a string, which every tool rejects with a message for the model.
        let arguments = tool_calls::repair(text).unwrap_or_else(|| Value::String(call.arguments.clone()));
        let accepted = self.accept(call.id, call.name, arguments)?;
        if !call.signature.is_empty() {
            self.provider_data.call_signatures.insert(accepted.id.clone(), call.signature);
        }
        Some(accepted)
    }

    /// Whether further calls are dropped: one more than run is reported to the model.
    fn has_enough_calls(&self) -> bool {
        self.calls.len() + self.client_calls.len() > MAX_RUN_CALLS
    }

    fn accept(&mut self, id: String, name: String, arguments: Value) -> Option<ToolCall> {
        if !self.tools_on {
            self.correction.get_or_insert(Correction::ToolsOff);
            return None;
        }
        if self.has_enough_calls() {
            return None;
        }
        self.show_text_before_call();
        if self.client_tools.contains(&name) {
            self.client_calls.push(ToolCall { id, name, arguments });
            return None;
        }
        let id = self.unique_id(id);
        let call = ToolCall { id, name, arguments };
        self.calls.push(call.clone());
        self.events.append(Event::Tool(ToolEvent::Call(Box::new(call.clone()))));
        Some(call)
    }

    /// The id if it is new in this turn, else a new one.
    fn unique_id(&self, id: String) -> String {
        let state = self.events.turn_state();
        let is_new = |id: &String| !id.is_empty() && !state.calls().any(|record| record.call.id == *id);
        let numbered = (state.calls().count() + 1..).map(|number| format!("call_{number}"));
        std::iter::once(id).chain(numbered).find(is_new).unwrap_or_default()
    }

    /// Emits text that was held as a possible repetition.
    fn emit_held(&mut self) {
        let pending = self.detector.as_mut().map(|detector| std::mem::take(detector).pending);
        let mut delta = self.trimmer.push(pending.unwrap_or_default());
        delta.push_str(&self.trimmer.finish());
        self.emit(delta);
    }

    fn may_correct(&self, correction: &Correction) -> bool {
        self.tools_on && !self.corrected.contains(&discriminant(correction))
    }

    fn emit(&self, delta: String) {
        if !delta.is_empty() {
            self.events.append(Event::Delta(AnswerDelta::Text(delta)));
        }
    }

    /// The outcome of a reply that was not read to its end.
    pub(super) fn give_up(&mut self, results: Vec<ToolRun>) -> RoundError {
        let round = Round { finish: Finish::Stop, usage: None, ..self.take_round(results) };
        RoundError::GaveUp((!round.calls.is_empty()).then(|| Box::new(round)))
    }

    /// The outcome of a reply that was read to its end, or to `error`.
    pub(super) fn close(
        &mut self,
        results: Vec<ToolRun>,
        error: Option<ModelError>,
        has_fallback: bool,
    ) -> Result<Round, RoundError> {
        if self.is_over && self.finish.is_none() {
            // The rest was not read, and with it the provider's token counts.
            (self.finish, self.usage) = (Some(Finish::Stop), None);
        }
        // Every wire format ends a reply with a finish or an error; without either, the connection was lost.
        let error = error.or(self.finish.is_none().then_some(ModelError::Disconnected));
        if error.is_some() {
            self.show_possible_reasoning();
        }
        let round = self.take_round(results);
        match error {
            None => Ok(round),
            // Usage that was counted before the end is incomplete.
            Some(error) if has_fallback && !round.calls.is_empty() => {
                Err(RoundError::AfterCalls(Box::new(Round { usage: None, ..round }), error))
            }
            Some(error) => Err(RoundError::Model(error)),
        }
    }

    fn take_round(&mut self, results: Vec<ToolRun>) -> Round {
        if !self.calls.is_empty() {
            // The other calls of the reply have run: it is not repeated for a malformed one.
            self.correction.iter().for_each(log_dropped);
        }
        Round {
            calls: std::mem::take(&mut self.calls),
            results,
            client_calls: std::mem::take(&mut self.client_calls),
            correction: self.correction.take(),
            finish: self.finish.unwrap_or(Finish::Stop),
            usage: self.usage.take(),
            provider_data: Some(Box::new(std::mem::take(&mut self.provider_data))),
        }
    }
}

/// The filter with the forms of reasoning that this model's replies have.
fn thinking_filter(options: &ReplyOptions<'_>, scanner: &CallScanner) -> ThinkingFilter {
    let config = options.model.config();
    let is_react = options.tool_mode == ToolMode::Prompted
        && tool_calls::format_of(config.call_format.as_deref(), &config.model).name() == "react";
    let filter = ThinkingFilter::default();
    let filter = if options.tools_on { filter.with_calls_of(scanner) } else { filter };
    let filter = if is_react { filter.with_thoughts() } else { filter };
    let filter = if options.model.tags_reasoning() { filter.with_leading_element() } else { filter };
    if opens_in_thinking(options) { filter.with_open_thinking() } else { filter }
}

/// The scanner of a reply. Models whose calls are text may also write them as actions.
fn scanner(options: &ReplyOptions<'_>) -> CallScanner {
    let scanner = CallScanner::new(options.specs).with_result_blocks(result_blocks(options));
    if options.tool_mode == ToolMode::Prompted { scanner.with_actions() } else { scanner }
}

/// What becomes of made-up results. A model with prompted tools, or without any result so far, still has to call one, so its
/// reply ends there. In the other replies only the block is left out.
fn result_blocks(options: &ReplyOptions<'_>) -> ResultBlocks {
    match options.tool_mode {
        _ if options.specs.is_empty() => ResultBlocks::Shown,
        ToolMode::Prompted if options.tools_on => ResultBlocks::EndReply,
        ToolMode::Native if options.finds_inventions => ResultBlocks::EndReply,
        ToolMode::Prompted | ToolMode::Native => ResultBlocks::Hidden,
    }
}
