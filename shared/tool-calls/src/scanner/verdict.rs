//! What opened a candidate, how far it is read, how certain it is, and what became of it.

use std::ops::ControlFlow;

use super::body::Body;
use super::elements::FunctionElements;
use super::gemma::GemmaBrackets;
use super::pythonic::BracketTracker;
use crate::segment::{MalformedReason, ParsedCall};

/// What opened a candidate, which determines how likely a call is intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateKind {
    /// A wrapper: a call to any name.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// So far all of it fits declared tools exactly; the text before it is not checked yet.
    Unchecked,
    /// The same, after text that introduces no example.
    Exact,
    /// It has a field that its tool does not know, or the text before it introduces an example.
    Possible,
    /// It fits exactly and ends its line: a call regardless of the following text.
    Certain,
}

/// The result of examining a candidate.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// More text is needed.
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

/// One step: continue, or a verdict.
pub(super) type Step = ControlFlow<Verdict>;

/// The stage within a candidate.
pub(super) enum CandidateStage {
    /// In a wrapper's tag.
    WrapperTag,
    /// In a function's tag; its name is an attribute or follows an equals sign.
    FunctionTag { attributes: bool },
    /// In a tag that is a tool's name.
    ToolTag,
    /// After the opening marker: the kind of content is unknown.
    Payload,
    /// After a name that precedes its arguments.
    Named { separated: bool },
    /// In JSON, or directly after it.
    Body(Body),
    /// In a function's parameters.
    Elements(Box<FunctionElements>),
    /// In a list of calls written as Python, which began at `start`.
    Python { brackets: BracketTracker, start: usize },
    /// In content of no known format; before `search` there is no marker.
    Unknown { search: usize, is_named: bool },
    /// After `Action:`.
    Action,
    /// After the end of the model's turn.
    TurnEnd,
    /// After `>>>`, or at the beginning of a reply whose prompt ended with it.
    Recipient,
    /// In the arguments of a call as Gemma writes them, which began at `start`.
    Gemma { brackets: GemmaBrackets, start: usize },
}
