//! The interface between a candidate and the grammar that reads its content.

use std::ops::ControlFlow::{self, Break, Continue};

use super::candidate::Candidate;
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;
use crate::segment::{MalformedReason, ParsedCall};

/// Reads a candidate in one grammar. The text begins with the candidate's marker; `candidate.at` is the current position.
pub(super) trait Reader {
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

/// The result of examining a candidate.
pub(super) enum Verdict {
    NeedMore,
    /// Complete calls; they end before this position.
    Calls(Vec<ParsedCall>, usize),
    /// Not a call: its marker is text, and the text after it is scanned again.
    Text,
    /// Whether the text before it introduces an example decides.
    CheckExample,
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
