//! A candidate for a call, and the interface of the grammars that read its content.

use std::ops::ControlFlow::{self, Break, Continue};
use std::ops::Range;

use super::space::SpaceScan;
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;
use crate::segment::{MalformedReason, ParsedCall};

/// With more opening markers in a row a text that ends in them is no call.
const MAX_NESTED_OPENINGS: usize = 2;

/// What opened a candidate, which determines how likely a call is intended (R4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CandidateKind {
    /// A wrapper: a call to any name.
    #[default]
    Wrapper,
    /// A function outside a wrapper: a call only to a declared name.
    Function,
    /// JSON or a list in Python at the beginning of a line: a call only to a declared name.
    Json,
    /// The same later in a line: a call only if it also fits a declared tool exactly, at the end of the reply.
    InlineJson,
    /// A bracket at the beginning of a reply: JSON, or a list of calls written as Python.
    List,
    /// `Action:` at the beginning of a line: a call only to a declared name.
    Action,
    /// The end of the model's turn: no text if nothing follows.
    TurnEnd,
}

/// How certain it is that JSON without a wrapper is a call (R6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Certainty {
    /// So far all of it fits declared tools exactly; the text before it is not checked yet.
    #[default]
    Unchecked,
    /// The same, after text that introduces no example.
    Exact,
    /// It has a field that its tool does not know, or the text before it introduces an example.
    Possible,
    /// It fits exactly and ends the reply.
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
    pub(super) fn new(kind: CandidateKind, marker_len: usize) -> Self {
        Self { kind, marker_len, payload: marker_len, at: marker_len, ..Self::default() }
    }

    /// Whether it is a call only if it names a declared tool.
    pub(super) fn is_bare(&self) -> bool {
        !matches!(self.kind, CandidateKind::Wrapper | CandidateKind::Function)
    }

    /// Whether the marker ends in the recipient of a message, which is no part of prose.
    pub(super) fn has_recipient(&self, text: &str) -> bool {
        text[..self.marker_len].ends_with("to=")
    }

    pub(super) fn read_with(&mut self, at: usize, reader: impl Reader + 'static) -> Step {
        self.at = at;
        Continue(Some(Box::new(reader)))
    }

    /// Records that a call among readable ones is malformed; the first one counts.
    pub(super) fn record_fault(&mut self, reason: MalformedReason, at: Range<usize>) {
        self.fault.get_or_insert((reason, at));
    }

    /// The calls up to `end`. Those that begin within a line must be certain.
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

/// Reads a candidate in one grammar. The text begins with the candidate's marker; `candidate.at` is the current position.
pub(super) trait Reader: Send {
    /// Reads on, and changes the reader where the grammar changes.
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step;

    fn finish(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Verdict {
        let may_be_content = matches!(self.opening(), Some(Opening::Payload | Opening::AfterName));
        let is_named = may_be_content && !candidate.is_bare() && self.names_declared(candidate, text, declared);
        if is_named || may_be_content && !candidate.is_bare() && candidate.has_recipient(text) {
            return Verdict::Unreadable(MalformedReason::UnknownFormat, text.len());
        }
        if self.opening().is_some() { candidate.finish_opening(text) } else { Verdict::Text }
    }

    fn progress(&self) -> Progress {
        Progress::Opening
    }

    /// Where in the opening it is; `None` after that.
    fn opening(&self) -> Option<Opening> {
        None
    }

    /// Whether what was read so far names a declared tool.
    fn names_declared(&self, _candidate: &Candidate, _text: &str, _declared: &DeclaredTools) -> bool {
        false
    }
}

/// One step: continue, with another reader if there is one, or a verdict.
pub(super) type Step = ControlFlow<Verdict, Option<Box<dyn Reader>>>;

/// How certainly the content is a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// Not at all: its grammar is not known yet.
    Opening,
    /// It is in a grammar of calls, with a defect or without content so far.
    Content,
    Certain,
    /// Certain, and the current position is in a string of JSON.
    InString,
    /// Every call in it has been read.
    Complete,
}

/// The parts of an opening, in and directly after which a marker may be mentioned in prose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    WrapperTag,
    FunctionTag,
    Payload,
    AfterName,
    Elements,
}

pub(super) enum Verdict {
    NeedMore,
    /// Complete calls; they end before this position.
    Calls(Vec<ParsedCall>, usize),
    /// Not a call: its marker is text, and the text after it is scanned again.
    Text,
    /// A marker at the end of the text that the model did not intend to show.
    Residue,
    /// Intended as a call up to this position, but unreadable for this reason.
    Unreadable(MalformedReason, usize),
}

impl<T> Match<T> {
    /// Breaks at a partial match, to wait for more text.
    pub(super) fn or_wait<B>(self, wait: B) -> ControlFlow<B, Option<(T, usize)>> {
        match self {
            Self::Full(found, length) => Continue(Some((found, length))),
            Self::Partial => Break(wait),
            Self::None => Continue(None),
        }
    }

    /// Breaks without a match, because the candidate is text or needs more of it.
    pub(super) fn or_text(self) -> ControlFlow<Verdict, (T, usize)> {
        self.or_wait(Verdict::NeedMore)?.map_or(Break(Verdict::Text), Continue)
    }
}
