use domain::{Event, ToolCall};
use llm::{Delta, Finish, ModelError, NativeCall, TokenUsage, ToolMode};
use serde_json::Value;
use tool_calls::{CallScanner, Malformed, MalformedReason, ParsedCall, ReplyEnd, ReplyPart, Segment, ThinkingFilter};
use tools::ToolRun;

use super::{Reader, Round};
use crate::EventLog;
use crate::failure::Broken;
use crate::seam::Seam;

/// Maximum number of calls of one reply that run. The next one is refused, and those after it are left out.
pub(super) const MAX_RUN_CALLS: usize = 127;

/// The state of one reply.
pub(super) struct Reading {
    events: EventLog,
    /// The names of the caller's tools.
    callers_tools: Vec<String>,
    tools_on: bool,
    path: ToolMode,
    may_correct: bool,
    filter: Option<ThinkingFilter>,
    scanner: Option<CallScanner>,
    /// Empty between two deltas: so that none of them needs a list of its own.
    parts: Vec<ReplyPart>,
    pieces: Vec<Segment>,
    calls: Vec<ToolCall>,
    pub(super) callers: Vec<ToolCall>,
    /// Calls in the text of a reply that may yet bring native ones, and text that failed to be one.
    held: Vec<ParsedCall>,
    residue: String,
    /// Whether there were native calls, of which the text may hold copies.
    called_natively: bool,
    seam: Seam,
    malformed: Option<Malformed>,
    finish: Option<Finish>,
    usage: Option<TokenUsage>,
}

impl Reading {
    pub(super) fn new(reader: &Reader<'_>) -> Self {
        let callers_tools = reader.caller.iter().flat_map(|caller| &caller.tools).map(|tool| tool.name.clone());
        Self {
            events: reader.events.clone(),
            callers_tools: callers_tools.collect(),
            tools_on: reader.tools_on,
            path: reader.path,
            may_correct: reader.may_correct,
            filter: Some(ThinkingFilter::default()),
            scanner: Some(CallScanner::new(reader.declared)),
            parts: Vec::new(),
            pieces: Vec::new(),
            calls: Vec::new(),
            callers: Vec::new(),
            held: Vec::new(),
            residue: String::new(),
            called_natively: false,
            seam: Seam::new(reader.said),
            malformed: None,
            finish: None,
            usage: None,
        }
    }

    /// Takes one delta and gives the calls that shall run now.
    pub(super) fn take(&mut self, delta: Delta) -> Vec<ToolCall> {
        match delta {
            Delta::Text(text) => self.text(text),
            Delta::Thinking(delta) => {
                self.events.append(Event::Thinking { delta });
                Vec::new()
            }
            Delta::Call(call) => self.native_call(call).into_iter().collect(),
            Delta::CutCall => {
                self.called_natively = true;
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
            let delta = self.seam.push(text);
            self.say(delta);
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
        let mut pieces = std::mem::take(&mut self.pieces);
        for part in parts.drain(..) {
            match part {
                ReplyPart::Thinking(delta) => self.events.append(Event::Thinking { delta }),
                ReplyPart::Text(text) => {
                    self.scanner.iter_mut().for_each(|scanner| scanner.push_into(&text, &mut pieces));
                    calls.extend(self.pieces(&mut pieces));
                }
            }
        }
        self.pieces = pieces;
        calls
    }

    fn pieces(&mut self, pieces: &mut Vec<Segment>) -> Vec<ToolCall> {
        let mut calls = Vec::new();
        for piece in pieces.drain(..) {
            match piece {
                Segment::Text(text) => {
                    let delta = self.seam.push(text);
                    self.say(delta);
                }
                Segment::Call(parsed) if self.path == ToolMode::Native => self.held.push(parsed),
                Segment::Call(parsed) => calls.extend(self.accept(String::new(), parsed.name, parsed.arguments)),
                Segment::Malformed(malformed) => self.refuse(malformed),
            }
        }
        calls
    }

    /// The end of the text: what is still held becomes a call or text.
    fn end(&mut self, finish: Finish) -> Vec<ToolCall> {
        self.finish = Some(finish);
        let mut parts = self.filter.take().map(ThinkingFilter::finish).unwrap_or_default();
        let mut calls = self.parts(&mut parts);
        let end = if finish == Finish::Length { ReplyEnd::Truncated } else { ReplyEnd::Complete };
        let mut pieces = self.scanner.take().map(|scanner| scanner.finish(end)).unwrap_or_default();
        calls.extend(self.pieces(&mut pieces));
        // A model with native calls may repeat them in its text: then the native ones hold and the text is residue.
        if !self.called_natively {
            for parsed in std::mem::take(&mut self.held) {
                calls.extend(self.accept(String::new(), parsed.name, parsed.arguments));
            }
            let residue = std::mem::take(&mut self.residue);
            self.show(residue);
        }
        self.say_held();
        calls
    }

    fn native_call(&mut self, call: NativeCall) -> Option<ToolCall> {
        self.called_natively = true;
        let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
        // Arguments that cannot be read stay a string, which no tool accepts: the model is told so.
        let arguments = tool_calls::repair(text).unwrap_or_else(|| Value::String(call.arguments.clone()));
        self.accept(call.id, call.name, arguments)
    }

    fn accept(&mut self, id: String, name: String, arguments: Value) -> Option<ToolCall> {
        if !self.tools_on || self.calls.len() + self.callers.len() > MAX_RUN_CALLS {
            return None;
        }
        self.say_held();
        if self.callers_tools.contains(&name) {
            self.callers.push(ToolCall { id, name, arguments });
            return None;
        }
        let id = self.own_id(id);
        let call = ToolCall { id, name, arguments };
        self.calls.push(call.clone());
        self.events.append(Event::ToolCall(Box::new(call.clone())));
        Some(call)
    }

    /// The id if it is new in this turn, else one that is.
    fn own_id(&self, id: String) -> String {
        let draft = self.events.draft();
        let is_new = |id: &String| !id.is_empty() && !draft.calls.iter().any(|record| record.call.id == *id);
        let numbered = (draft.calls.len() + 1..).map(|number| format!("call_{number}"));
        std::iter::once(id).chain(numbered).find(is_new).unwrap_or_default()
    }

    fn refuse(&mut self, malformed: Malformed) {
        match &malformed.reason {
            MalformedReason::Truncated => self.malformed = Some(malformed),
            MalformedReason::Unreadable(_) if self.may_correct && self.malformed.is_none() => {
                self.malformed = Some(malformed);
            }
            MalformedReason::Unreadable(_) if self.path == ToolMode::Native => self.residue.push_str(&malformed.raw),
            MalformedReason::Unreadable(_) => self.show(malformed.raw),
        }
    }

    /// Shows what should have been a call and cannot be read.
    fn show(&mut self, raw: String) {
        if !raw.is_empty() {
            tracing::warn!(characters = raw.chars().count(), "a call could not be read and is shown as text");
            let delta = self.seam.push(raw);
            self.say(delta);
        }
    }

    /// Says what might have been a repetition of what was said before.
    fn say_held(&mut self) {
        let delta = self.seam.finish();
        self.say(delta);
    }

    fn say(&self, delta: String) {
        if !delta.is_empty() {
            self.events.append(Event::Text { delta });
        }
    }

    /// What there is of a reply that was not read to its end.
    pub(super) fn given_up(&mut self, results: Vec<ToolRun>) -> Broken {
        let round = Round { finish: Finish::Stop, usage: None, ..self.round(results) };
        Broken::Late((!round.calls.is_empty()).then(|| Box::new(round)))
    }

    pub(super) fn close(
        &mut self,
        results: Vec<ToolRun>,
        broke: Option<ModelError>,
        alternative: bool,
    ) -> Result<Round, Broken> {
        // The wire promises a finish or an error; a reply without either was cut.
        let broke = broke.or(self.finish.is_none().then_some(ModelError::Disconnected));
        let round = self.round(results);
        match broke {
            None => Ok(round),
            // What was counted before the end is not the whole.
            Some(error) if alternative && !round.calls.is_empty() => {
                Err(Broken::Called(Box::new(Round { usage: None, ..round }), error))
            }
            Some(error) => Err(Broken::Model(error)),
        }
    }

    /// What there is, which is given out once.
    fn round(&mut self, results: Vec<ToolRun>) -> Round {
        Round {
            calls: std::mem::take(&mut self.calls),
            results,
            callers: std::mem::take(&mut self.callers),
            malformed: self.malformed.take(),
            finish: self.finish.unwrap_or(Finish::Stop),
            usage: self.usage.take(),
        }
    }
}
