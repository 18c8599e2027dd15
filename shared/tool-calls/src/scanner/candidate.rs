//! A candidate for a call, from its opening marker until it is a call, cannot be one, or is unreadable.

use std::ops::ControlFlow::{Break, Continue};
use std::ops::Range;

use super::reader::{Progress, Reader, Step, Verdict};
use super::readers::payload::Payload;
use super::readers::python::PythonCalls;
use super::readers::tag::{FunctionTag, WrapperTag};
use super::space::SpaceScan;
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::segment::{MalformedReason, ParsedCall};

/// Maximum size of an uncertain candidate, in bytes.
const MAX_UNCERTAIN_BYTES: usize = 64 * 1024;
/// Maximum size of a call, in bytes.
const MAX_CALL_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of markers between the opening one and the call; each may have to be scanned again as text.
const MAX_NESTED: usize = 8;
/// With more opening markers in a row a text that ends in them is no call.
const MAX_NESTED_OPENINGS: usize = 2;

/// What opened a candidate, which determines how likely a call is intended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CandidateKind {
    /// A wrapper: a call to any name.
    #[default]
    Wrapper,
    /// A function outside a wrapper: a call only to a declared name.
    Function,
    /// JSON or a list in Python at the beginning of a line: a call only to a declared name.
    Json,
    /// The same later in a line: a call only if it fits a declared tool exactly and ends its line.
    InlineJson,
    /// A bracket at the beginning of a reply: JSON, or a list of calls written as Python.
    List,
    /// `Action:` at the beginning of a line: a call only to a declared name.
    Action,
    /// The end of the model's turn: no text if nothing follows.
    TurnEnd,
}

/// How certain it is that JSON without a wrapper is a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Certainty {
    /// So far all of it fits declared tools exactly; the text before it is not checked yet.
    #[default]
    Unchecked,
    /// The same, after text that introduces no example.
    Exact,
    /// It has a field that its tool does not know, or the text before it introduces an example.
    Possible,
    /// It fits exactly and ends its line: a call regardless of the following text.
    Certain,
}

/// What is known about a candidate whatever its grammar. Positions count from the opening marker's first byte.
#[derive(Default)]
pub(super) struct Candidate {
    pub(super) kind: CandidateKind,
    pub(super) marker_len: usize,
    /// Whether the marker is a control token, which does not occur in prose.
    pub(super) is_control_token: bool,
    /// Whether the marker begins a line or follows a call, where prose does not mention it.
    pub(super) begins_line: bool,
    /// Where the content after the marker begins.
    pub(super) payload: usize,
    pub(super) certainty: Certainty,
    /// The number of markers between the opening one and the call.
    pub(super) nested: usize,
    /// Everything before this position has been read.
    pub(super) at: usize,
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

impl Candidate {
    /// Whether it is a call only if it names a declared tool.
    pub(super) fn is_bare(&self) -> bool {
        !matches!(self.kind, CandidateKind::Wrapper | CandidateKind::Function)
    }

    /// Whether the marker ends in the recipient of a message, which is no part of prose.
    pub(super) fn has_recipient(&self, text: &str) -> bool {
        text[..self.marker_len].ends_with("to=")
    }

    /// Continues at this position with a reader.
    pub(super) fn read_with(&mut self, at: usize, reader: impl Reader + 'static) -> Step {
        self.at = at;
        Continue(Some(Box::new(reader)))
    }

    /// Continues with the marker at `at`, which directly follows the opening one.
    pub(super) fn nest(&mut self, role: Role, marker: &str, at: usize) -> Step {
        if self.nested == MAX_NESTED {
            return Break(Verdict::Text);
        }
        let OpenCandidate { candidate: inner, reader, .. } = OpenCandidate::from_marker(role, marker, true);
        *self = Self {
            marker_len: self.marker_len,
            is_control_token: self.is_control_token && inner.is_control_token,
            begins_line: self.begins_line,
            nested: self.nested + 1,
            payload: at + marker.len(),
            at: at + marker.len(),
            ..inner
        };
        Continue(Some(reader))
    }

    /// Records that a call among readable ones is malformed; the first one counts.
    pub(super) fn record_fault(&mut self, reason: MalformedReason, at: Range<usize>) {
        self.fault.get_or_insert((reason, at));
    }

    /// The calls up to `end`. Those in the middle of a line must be certain.
    pub(super) fn take_possible_calls(&mut self, end: usize) -> Verdict {
        if self.kind == CandidateKind::InlineJson && self.certainty != Certainty::Certain {
            return Verdict::Text;
        }
        Verdict::Calls(std::mem::take(&mut self.calls), end)
    }

    /// Decides a candidate in or directly after whose opening marker the reply ends. At the beginning of a line it is a call
    /// that the model did not continue; within a line it is prose about the marker.
    pub(super) fn finish_opening(&self, text: &str) -> Verdict {
        let content = &text[self.payload..];
        // Another tag was begun on the next line.
        let continues = content.starts_with("\n<");
        let is_marked = self.begins_line || self.nested > 0 || self.is_control_token || continues;
        match content.chars().next() {
            _ if self.is_bare() || !is_marked || self.nested > MAX_NESTED_OPENINGS => Verdict::Text,
            _ if content.trim().is_empty() => Verdict::Residue,
            Some(' ' | '\t') => Verdict::Text,
            _ => Verdict::Unreadable(MalformedReason::UnknownFormat, text.len()),
        }
    }
}

/// A candidate that is being read.
pub(super) struct OpenCandidate {
    pub(super) candidate: Candidate,
    reader: Box<dyn Reader>,
    /// In inline code: no backtick before this position ends it.
    quoted_up_to: Option<usize>,
    /// Where the current window ends.
    limit: usize,
    /// Whether it was certain at the end of the last window.
    was_certain: bool,
}

/// Whether a marker has a bar, in one form or the other, or begins with a bracket that no prose has.
fn is_control_token(marker: &str) -> bool {
    const WIDE_BAR: u8 = "｜".as_bytes()[0];
    marker.starts_with(']') || marker.bytes().any(|byte| matches!(byte, b'|' | WIDE_BAR))
}

impl OpenCandidate {
    pub(super) fn from_marker(role: Role, marker: &str, in_wrapper: bool) -> Self {
        let kind = if in_wrapper { CandidateKind::Wrapper } else { CandidateKind::Function };
        let mut open = match role {
            Role::WrapperWithAttributes => Self::new(CandidateKind::Wrapper, WrapperTag, marker.len()),
            Role::Function | Role::FunctionWithAttributes => Self::new(kind, FunctionTag, marker.len()),
            _ => Self::new(CandidateKind::Wrapper, Payload, marker.len()),
        };
        open.candidate.is_control_token = is_control_token(marker);
        open
    }

    pub(super) fn new(kind: CandidateKind, reader: impl Reader + 'static, marker_len: usize) -> Self {
        let candidate = Candidate { kind, marker_len, payload: marker_len, at: marker_len, ..Candidate::default() };
        let reader = Box::new(reader);
        Self { candidate, reader, quoted_up_to: None, limit: MAX_UNCERTAIN_BYTES, was_certain: false }
    }

    /// Creates a candidate that begins with the name of a declared tool, before its arguments in round brackets. It is a call only
    /// if the reply is nothing else.
    pub(super) fn plain_call(name: &str) -> Self {
        let mut open = Self::new(CandidateKind::Json, PythonCalls::new(name.len()), 0);
        open.candidate.name = Some(name.to_owned());
        (open.candidate.at, open.candidate.certainty) = (name.len(), Certainty::Possible);
        open
    }

    /// Marks it as inside inline code, where a backtick outside a string shows that it is only quoted.
    pub(super) fn in_inline_code(self) -> Self {
        Self { quoted_up_to: Some(0), ..self }
    }

    /// Records whether the text before it introduces an example.
    pub(super) fn check_example(&mut self, is_example: impl FnOnce() -> bool) {
        if self.candidate.certainty == Certainty::Unchecked {
            self.candidate.certainty = if is_example() { Certainty::Possible } else { Certainty::Exact };
        }
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
                Verdict::NeedMore if window < end => match self.reader.progress() {
                    Progress::InString => self.quoted_up_to = Some(window + 1),
                    _ => return Verdict::Text,
                },
                Verdict::NeedMore if self.limit < MAX_CALL_BYTES && (self.is_certain() || self.was_certain) => {
                    self.was_certain = self.is_certain();
                    self.limit += MAX_UNCERTAIN_BYTES;
                }
                Verdict::NeedMore if self.candidate.is_bare() || self.reader.progress() == Progress::Opening => {
                    return Verdict::Text;
                }
                Verdict::NeedMore => return Verdict::Unreadable(MalformedReason::TooLong, window),
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

    fn run(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        loop {
            let step = match self.reader.advance(&mut self.candidate, text, declared) {
                Break(Verdict::Text) => self.candidate.search_unknown_format(&*self.reader, text, declared),
                step => step,
            };
            match step {
                Continue(Some(reader)) => self.reader = reader,
                Continue(None) => {}
                Break(verdict) => return verdict,
            }
        }
    }

    /// Whether it is certainly intended as a call, and well-formed so far.
    fn is_certain(&self) -> bool {
        !self.candidate.is_bare() && self.reader.progress() >= Progress::Certain
    }

    /// Whether it would have become a call if `text` is cut at its end.
    pub(super) fn is_cut_call(&self, text: &str, declared: &DeclaredTools) -> bool {
        let is_call = !self.candidate.is_bare() || self.reader.names_declared(&self.candidate, text, declared);
        is_call && self.reader.progress() != Progress::Complete
    }

    pub(super) fn finish(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        self.reader.finish(&mut self.candidate, text, declared)
    }
}
