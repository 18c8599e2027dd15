//! A candidate for a call, from its opening marker until it is a call, cannot be one, or is unreadable.

use std::ops::ControlFlow::{Break, Continue};
use std::ops::Range;

use super::body::Body;
use super::element_stage::ElementStep;
use super::pythonic::BracketTracker;
use super::space::SpaceScan;
pub(super) use super::verdict::{CandidateKind, CandidateStage, Certainty, Step, Verdict};
use crate::declared_tools::DeclaredTools;
use crate::json_calls::unwrap_only_argument;
use crate::marker_role::Role;
use crate::segment::{JsonFault, MalformedReason, ParsedCall};

/// Maximum size of an uncertain candidate, in bytes.
pub(super) const MAX_UNCERTAIN_BYTES: usize = 64 * 1024;
/// Maximum size of a call, in bytes.
pub(super) const MAX_CALL_BYTES: usize = 2 * 1024 * 1024;

/// Maximum number of markers between the opening one and the call; each may have to be scanned again as text.
const MAX_NESTED: usize = 8;

/// A candidate for a call. Positions count from the opening marker's first byte.
#[expect(clippy::struct_excessive_bools, reason = "each is about another part of the candidate")]
pub(super) struct Candidate {
    pub(super) kind: CandidateKind,
    /// The length of the opening marker.
    pub(super) marker_len: usize,
    /// Whether the marker is a control token, which does not occur in prose.
    pub(super) is_control_token: bool,
    /// Whether the marker begins a line or follows a call, where prose does not mention it.
    begins_line: bool,
    /// Where the content after the marker begins.
    pub(super) payload: usize,
    pub(super) certainty: Certainty,
    /// The number of markers between the opening one and the call.
    pub(super) nested: usize,
    /// In inline code: no backtick before this position ends it.
    quoted_up_to: Option<usize>,
    /// Where the current window ends.
    limit: usize,
    /// Whether it was certain at the end of the last window.
    was_certain: bool,
    pub(super) stage: CandidateStage,
    /// Everything before this position has been read.
    pub(super) at: usize,
    /// Whether the name was written as Gemma does.
    pub(super) is_gemma: bool,
    /// A name from outside the arguments.
    pub(super) name: Option<String>,
    pub(super) calls: Vec<ParsedCall>,
    /// Where the last of the calls ends.
    pub(super) calls_end: usize,
    /// Why a call among readable ones is malformed, and where its text is.
    pub(super) fault: Option<(MalformedReason, Range<usize>)>,
    pub(super) space: SpaceScan,
    /// No end of a wrapper begins at these positions: they were searched.
    pub(super) without_end: Range<usize>,
}

/// Whether a marker has a bar, in one form or the other, or begins with a bracket that no prose has.
fn is_control_token(marker: &str) -> bool {
    const WIDE_BAR: u8 = "｜".as_bytes()[0];
    marker.starts_with(']') || marker.bytes().any(|byte| matches!(byte, b'|' | WIDE_BAR))
}

impl Candidate {
    /// Creates a candidate that a marker of this role opened.
    pub(super) fn from_marker(role: Role, marker: &str, in_wrapper: bool) -> Self {
        let (kind, stage) = match role {
            Role::WrapperWithAttributes => (CandidateKind::Wrapper, CandidateStage::WrapperTag),
            Role::Function | Role::FunctionWithAttributes => {
                let kind = if in_wrapper { CandidateKind::Wrapper } else { CandidateKind::Function };
                (kind, CandidateStage::FunctionTag { attributes: role == Role::FunctionWithAttributes })
            }
            _ => (CandidateKind::Wrapper, CandidateStage::Payload),
        };
        Self { is_control_token: is_control_token(marker), ..Self::new(kind, stage, marker.len()) }
    }

    /// Creates a candidate with a marker of this length, in bytes.
    pub(super) fn new(kind: CandidateKind, stage: CandidateStage, marker_len: usize) -> Self {
        Self {
            kind,
            marker_len,
            is_control_token: false,
            begins_line: false,
            payload: marker_len,
            certainty: Certainty::Unchecked,
            nested: 0,
            quoted_up_to: None,
            limit: MAX_UNCERTAIN_BYTES,
            was_certain: false,
            stage,
            at: marker_len,
            is_gemma: false,
            name: None,
            calls: Vec::new(),
            calls_end: 0,
            fault: None,
            space: SpaceScan::default(),
            without_end: 0..0,
        }
    }

    /// Creates a candidate that begins with the name of a declared tool, before its arguments in round brackets. It is a call only
    /// if the reply is nothing else.
    pub(super) fn plain_call(name: &str) -> Self {
        let stage = CandidateStage::Python { brackets: BracketTracker::default(), start: name.len() };
        let candidate = Self::new(CandidateKind::Json, stage, 0);
        Self { at: name.len(), name: Some(name.to_owned()), certainty: Certainty::Possible, ..candidate }
    }

    /// Records whether the marker begins a line or follows a call.
    pub(super) fn with_line_start(self, begins_line: bool) -> Self {
        Self { begins_line, ..self }
    }

    /// Records whether the text before it introduces an example.
    pub(super) fn check_example(&mut self, is_example: impl FnOnce() -> bool) {
        if self.certainty == Certainty::Unchecked {
            self.certainty = if is_example() { Certainty::Possible } else { Certainty::Exact };
        }
    }

    /// Marks it as inside inline code, where a backtick outside a string shows that it is only quoted.
    pub(super) fn in_inline_code(self) -> Self {
        Self { quoted_up_to: Some(0), ..self }
    }

    /// Continues with the marker that directly follows the opening one.
    pub(super) fn nest(&mut self, inner: Self, at: usize) -> Step {
        if self.nested == MAX_NESTED {
            return Break(Verdict::Text);
        }
        *self = Self {
            marker_len: self.marker_len,
            is_control_token: self.is_control_token && inner.is_control_token,
            begins_line: self.begins_line,
            quoted_up_to: self.quoted_up_to,
            nested: self.nested + 1,
            payload: at,
            at,
            ..inner
        };
        Continue(())
    }

    /// Continues reading `text`, which begins with the opening marker and all that was read before.
    ///
    /// It reads in windows whose ends do not depend on the chunking of the text. Where a window ends, a candidate continues that
    /// is certain, or was at the window's beginning: so nothing before it lifts the bound of what is uncertain.
    pub(super) fn advance(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        loop {
            let end = text.floor_char_boundary(self.limit);
            let window = end.min(self.find_tick(text));
            match self.run(&text[..window], declared) {
                Verdict::NeedMore if window == text.len() => return Verdict::NeedMore,
                Verdict::NeedMore if window < end => match &self.stage {
                    CandidateStage::Body(body) if body.is_in_well_formed_string() => {
                        self.quoted_up_to = Some(window + 1);
                    }
                    _ => return Verdict::Text,
                },
                Verdict::NeedMore if self.limit < MAX_CALL_BYTES && (self.is_certain() || self.was_certain) => {
                    self.was_certain = self.is_certain();
                    self.limit += MAX_UNCERTAIN_BYTES;
                }
                Verdict::NeedMore => return self.give_up(window),
                verdict => return verdict,
            }
        }
    }

    /// The next backtick that may end the inline code around the candidate.
    fn find_tick(&mut self, text: &str) -> usize {
        let Some(from) = self.quoted_up_to else { return text.len() };
        let tick = text[from..].find('`').map_or(text.len(), |found| from + found);
        self.quoted_up_to = Some(tick);
        tick
    }

    fn give_up(&self, length: usize) -> Verdict {
        match self.stage {
            CandidateStage::Body(_)
            | CandidateStage::Elements(_)
            | CandidateStage::Python { .. }
            | CandidateStage::Gemma { .. }
                if !self.is_bare() =>
            {
                Verdict::Unreadable(MalformedReason::TooLong, length)
            }
            _ => Verdict::Text,
        }
    }

    fn run(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        loop {
            if let Break(verdict) = self.step(text, declared) {
                return verdict;
            }
        }
    }

    /// Whether it is a call only if it names a declared tool.
    pub(super) fn is_bare(&self) -> bool {
        use CandidateKind::{Action, InlineJson, Json, List, TurnEnd};
        matches!(self.kind, Json | InlineJson | List | Action | TurnEnd)
    }

    /// Whether it is certainly intended as a call, and well-formed so far.
    fn is_certain(&self) -> bool {
        match &self.stage {
            _ if self.is_bare() => false,
            CandidateStage::Body(body) => body.is_well_formed(),
            CandidateStage::Elements(elements) => elements.has_content(),
            CandidateStage::Python { .. } | CandidateStage::Gemma { .. } => true,
            _ => false,
        }
    }

    /// Whether it would have become a call if the text is cut here.
    pub(super) fn is_meant_as_call(&self, declared: &DeclaredTools) -> bool {
        match &self.stage {
            CandidateStage::Body(body) if self.is_bare() => body.names_declared(declared),
            _ => !self.is_bare(),
        }
    }

    /// Whether the calls are complete and only their wrapper's end is missing.
    pub(super) fn is_complete(&self) -> bool {
        matches!(&self.stage, CandidateStage::Body(body) if body.is_complete())
    }

    fn step(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        match &mut self.stage {
            CandidateStage::WrapperTag => self.read_wrapper_tag(text),
            CandidateStage::FunctionTag { attributes } => {
                let attributes = *attributes;
                let step = self.read_function_tag(text, attributes, declared);
                self.or_unknown_format(step, text, declared)
            }
            CandidateStage::ToolTag => self.read_tool_tag(text, 0, declared),
            CandidateStage::Payload => {
                let step = self.read_payload(text, declared);
                self.or_unknown_format(step, text, declared)
            }
            CandidateStage::Named { separated } => {
                let separated = *separated;
                let step = self.read_after_name(text, separated, declared);
                self.or_unknown_format(step, text, declared)
            }
            CandidateStage::Body(_) => self.read_body(text, declared),
            CandidateStage::Elements(elements) => {
                let step = elements.step(text, self.at, declared);
                let step = self.apply_element_step(step, declared);
                self.or_unknown_format(step, text, declared)
            }
            CandidateStage::Python { brackets, start } => {
                let (start, end) = (*start, brackets.advance(text, self.at));
                self.read_python(text, start, end, declared)
            }
            CandidateStage::Unknown { search, .. } => {
                let search = *search;
                self.read_unknown_format(text, search)
            }
            CandidateStage::Action => self.read_action(text, declared),
            CandidateStage::TurnEnd => self.read_after_turn_end(text),
            CandidateStage::Recipient => self.read_recipient(text, declared),
            CandidateStage::Gemma { brackets, start } => {
                let (start, end) = (*start, brackets.advance(text, self.at));
                self.read_gemma(text, start, end, declared)
            }
        }
    }

    fn apply_element_step(&mut self, step: ElementStep, declared: &DeclaredTools) -> Step {
        match step {
            ElementStep::Continue(at) => {
                self.at = at;
                Continue(())
            }
            ElementStep::NeedMore(at) => {
                self.at = at;
                Break(Verdict::NeedMore)
            }
            ElementStep::Call(call, end) => Break(Verdict::Calls(vec![unwrap_only_argument(call, declared)], end)),
            ElementStep::Unreadable(reason, at) if self.is_certain() || self.is_control_token => {
                self.at = at;
                self.stage = CandidateStage::Body(Body::unreadable(reason));
                Continue(())
            }
            ElementStep::Unreadable(..) => Break(Verdict::Text),
        }
    }

    /// Ends the text: decides an undecided candidate.
    pub(super) fn finish(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        let bare = self.is_bare();
        let names_declared = !bare && (self.names_declared(text, declared) || self.has_recipient(text));
        match &mut self.stage {
            CandidateStage::Elements(elements) => match elements.finish(text, declared) {
                Ok((call, end)) => Verdict::Calls(vec![unwrap_only_argument(call, declared)], end),
                Err(reason) if elements.has_content() => Verdict::Unreadable(reason, text.len()),
                Err(_) => self.finish_opening(text),
            },
            CandidateStage::Body(_) => self.finish_body(text, declared),
            CandidateStage::Action => self.finish_action(text, declared),
            CandidateStage::TurnEnd => Verdict::Residue,
            CandidateStage::Gemma { .. } => {
                Verdict::Unreadable(MalformedReason::NotJson(JsonFault::Incomplete), text.len())
            }
            CandidateStage::Python { .. } if !bare => Verdict::Unreadable(MalformedReason::NotPython, text.len()),
            CandidateStage::Payload | CandidateStage::Named { .. } | CandidateStage::Unknown { .. }
                if names_declared =>
            {
                Verdict::Unreadable(MalformedReason::UnknownFormat, text.len())
            }
            _ => self.finish_opening(text),
        }
    }

    /// Whether the marker begins a line or follows a call.
    pub(super) fn begins_line(&self) -> bool {
        self.begins_line
    }
}
