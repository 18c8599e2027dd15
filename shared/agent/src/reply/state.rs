mod outcome;

use domain::{Event, ToolCall};
use llm::{Delta, Finish, NativeCall, TokenUsage, ToolMode};
use serde_json::Value;
use tool_calls::{CallScanner, Malformed, MalformedReason, ParsedCall, ReplyEnd, ReplyPart, Segment, ThinkingFilter};

use super::ReplyOptions;
use crate::EventLog;
use crate::continuation::ContinuationTrimmer;

/// Maximum number of calls of one reply that run. The next one is rejected, and later ones are dropped.
pub(super) const MAX_RUN_CALLS: usize = 127;

/// What was read of one reply.
pub(super) struct ReplyState {
    events: EventLog,
    /// The names of the client's tools.
    client_tools: Vec<String>,
    tools_on: bool,
    tool_mode: ToolMode,
    may_correct: bool,
    filter: Option<ThinkingFilter>,
    scanner: Option<CallScanner>,
    /// Empty between deltas; kept to reuse its memory, as is `segments`.
    parts: Vec<ReplyPart>,
    segments: Vec<Segment>,
    calls: Vec<ToolCall>,
    pub(super) client_calls: Vec<ToolCall>,
    /// Calls in the text of a reply that may still contain native calls.
    held: Vec<ParsedCall>,
    /// Text of such a reply that has the form of a call and cannot be parsed.
    unparsed_text: String,
    /// Whether there were native calls, which the text may repeat.
    has_native_calls: bool,
    trimmer: ContinuationTrimmer,
    malformed: Option<Malformed>,
    finish: Option<Finish>,
    usage: Option<TokenUsage>,
}

impl ReplyState {
    pub(super) fn new(options: &ReplyOptions<'_>) -> Self {
        let client_tools = options.client.iter().flat_map(|client| &client.tools).map(|tool| tool.name.clone());
        Self {
            events: options.events.clone(),
            client_tools: client_tools.collect(),
            tools_on: options.tools_on,
            tool_mode: options.tool_mode,
            may_correct: options.may_correct,
            filter: Some(ThinkingFilter::default()),
            scanner: Some(CallScanner::new(options.specs)),
            parts: Vec::new(),
            segments: Vec::new(),
            calls: Vec::new(),
            client_calls: Vec::new(),
            held: Vec::new(),
            unparsed_text: String::new(),
            has_native_calls: false,
            trimmer: ContinuationTrimmer::new(options.previous_text),
            malformed: None,
            finish: None,
            usage: None,
        }
    }

    /// Applies one delta; returns the calls that must run now.
    pub(super) fn apply(&mut self, delta: Delta) -> Vec<ToolCall> {
        match delta {
            Delta::Text(text) => self.text(text),
            Delta::Thinking(delta) => {
                self.events.append(Event::Thinking { delta });
                Vec::new()
            }
            Delta::Call(call) => self.native_call(call).into_iter().collect(),
            Delta::CutCall => {
                self.has_native_calls = true;
                self.malformed = Some(Malformed { raw: String::new(), reason: MalformedReason::Truncated });
                Vec::new()
            }
            Delta::Usage(usage) => {
                self.usage = Some(usage);
                Vec::new()
            }
            Delta::Finish(finish) => self.end(finish),
        }
    }

    fn text(&mut self, text: String) -> Vec<ToolCall> {
        let (Some(filter), Some(scanner)) = (&mut self.filter, &mut self.scanner) else { return Vec::new() };
        let passes = filter.try_passthrough(&text);
        if passes && scanner.try_passthrough(&text) {
            let delta = self.trimmer.push(text);
            self.emit(delta);
            return Vec::new();
        }
        let mut parts = std::mem::take(&mut self.parts);
        if passes {
            parts.push(ReplyPart::Text(text));
        } else {
            filter.push_into(&text, &mut parts);
        }
        let calls = self.parts(&mut parts);
        self.parts = parts;
        calls
    }

    fn parts(&mut self, parts: &mut Vec<ReplyPart>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        let mut segments = std::mem::take(&mut self.segments);
        for part in parts.drain(..) {
            match part {
                ReplyPart::Thinking(delta) => self.events.append(Event::Thinking { delta }),
                ReplyPart::Text(text) => {
                    self.scanner.iter_mut().for_each(|scanner| scanner.push_into(&text, &mut segments));
                    calls.extend(self.segments(&mut segments));
                }
            }
        }
        self.segments = segments;
        calls
    }

    fn segments(&mut self, segments: &mut Vec<Segment>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        for segment in segments.drain(..) {
            match segment {
                Segment::Text(text) => {
                    let delta = self.trimmer.push(text);
                    self.emit(delta);
                }
                Segment::Call(parsed) if self.tool_mode == ToolMode::Native => self.held.push(parsed),
                Segment::Call(parsed) => calls.extend(self.accept(String::new(), parsed.name, parsed.arguments)),
                Segment::Malformed(malformed) => self.reject(malformed),
            }
        }
        calls
    }

    /// Ends the text: what is still held becomes a call or text.
    fn end(&mut self, finish: Finish) -> Vec<ToolCall> {
        self.finish = Some(finish);
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
            let unparsed_text = std::mem::take(&mut self.unparsed_text);
            self.emit_unparsed(unparsed_text);
        }
        self.emit_held();
        calls
    }

    fn native_call(&mut self, call: NativeCall) -> Option<ToolCall> {
        self.has_native_calls = true;
        let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
        // Arguments that cannot be parsed stay a string, which every tool rejects with a message for the model.
        let arguments = tool_calls::repair(text).unwrap_or_else(|| Value::String(call.arguments.clone()));
        self.accept(call.id, call.name, arguments)
    }

    fn accept(&mut self, id: String, name: String, arguments: Value) -> Option<ToolCall> {
        if !self.tools_on || self.calls.len() + self.client_calls.len() > MAX_RUN_CALLS {
            return None;
        }
        self.emit_held();
        if self.client_tools.contains(&name) {
            self.client_calls.push(ToolCall { id, name, arguments });
            return None;
        }
        let id = self.unique_id(id);
        let call = ToolCall { id, name, arguments };
        self.calls.push(call.clone());
        self.events.append(Event::ToolCall(Box::new(call.clone())));
        Some(call)
    }

    /// The id if it is new in this turn, else a new one.
    fn unique_id(&self, id: String) -> String {
        let state = self.events.turn_state();
        let is_new = |id: &String| !id.is_empty() && !state.calls().any(|record| record.call.id == *id);
        let numbered = (state.calls().count() + 1..).map(|number| format!("call_{number}"));
        std::iter::once(id).chain(numbered).find(is_new).unwrap_or_default()
    }

    fn reject(&mut self, malformed: Malformed) {
        match &malformed.reason {
            MalformedReason::Truncated => self.malformed = Some(malformed),
            MalformedReason::Unreadable(_) if self.may_correct && self.malformed.is_none() => {
                self.malformed = Some(malformed);
            }
            MalformedReason::Unreadable(_) if self.tool_mode == ToolMode::Native => {
                self.unparsed_text.push_str(&malformed.raw);
            }
            MalformedReason::Unreadable(_) => self.emit_unparsed(malformed.raw),
        }
    }

    /// Emits a call that cannot be parsed as text.
    fn emit_unparsed(&mut self, raw: String) {
        if !raw.is_empty() {
            tracing::warn!(characters = raw.chars().count(), "a call could not be parsed and is shown as text");
            let delta = self.trimmer.push(raw);
            self.emit(delta);
        }
    }

    /// Emits text that was held as a possible repetition.
    fn emit_held(&mut self) {
        let delta = self.trimmer.finish();
        self.emit(delta);
    }

    fn emit(&self, delta: String) {
        if !delta.is_empty() {
            self.events.append(Event::Text { delta });
        }
    }
}
