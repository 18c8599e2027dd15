//! A candidate for a call, from its opening marker until it is a call, cannot be one, or is unreadable.

use std::ops::ControlFlow::{self, Break, Continue};

use super::body::Body;
use super::elements::{Elements, Inside};
use super::pythonic::Brackets;
use crate::declared::Declared;
use crate::markers::Role;
use crate::piece::ParsedCall;

/// Maximum size of an uncertain candidate, in bytes.
pub(super) const MAX_UNCERTAIN: usize = 64 * 1024;
/// Maximum size of a call, in bytes.
pub(super) const MAX_CALL: usize = 2 * 1024 * 1024;

/// Maximum number of markers between the opening one and the call; each may have to be scanned again as text.
const MAX_NESTED: usize = 8;

/// What opened a candidate, which determines how likely a call is intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A wrapper: a call to any name.
    Wrapper,
    /// A function outside a wrapper: a call only to a declared name.
    Function,
    /// JSON at the beginning of a line: a call only to a declared name.
    Json,
    /// A bracket at the beginning of a reply: JSON, or a list of calls written as Python.
    List,
    /// `Action:` at the beginning of a line: a call only to a declared name.
    Action,
}

/// The result of examining a candidate.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// More text is needed.
    More,
    /// Complete calls; they end before this position.
    Calls(Vec<ParsedCall>, usize),
    /// Not a call: its marker is text, and the text after it is scanned again.
    Text,
    /// A marker at the end of the text that the model did not intend to show.
    Residue,
    /// Intended as a call up to this position, but unreadable for this reason.
    Unreadable(String, usize),
}

/// One step: continue, or a verdict.
pub(super) type Step = ControlFlow<Verdict>;

/// A candidate for a call. Positions count from the opening marker's first byte.
pub(super) struct Candidate {
    pub(super) kind: Kind,
    /// The length of the opening marker.
    pub(super) marker: usize,
    /// Whether the marker is a control token, which does not occur in prose.
    pub(super) control: bool,
    /// The number of markers between the opening one and the call.
    pub(super) nested: usize,
    /// In inline code: no backtick before this position ends it.
    quoted: Option<usize>,
    pub(super) stage: Stage,
    /// Everything before this position has been read.
    pub(super) at: usize,
    /// A name from outside the arguments.
    pub(super) name: Option<String>,
    pub(super) calls: Vec<ParsedCall>,
    /// Where the last of the calls ends.
    pub(super) settled: usize,
}

/// The stage within a candidate.
pub(super) enum Stage {
    /// In a wrapper's tag.
    WrapperTag,
    /// In a function's tag; its name is an attribute or follows an equals sign.
    FunctionTag { attributes: bool },
    /// After the opening marker: the kind of content is unknown.
    Payload,
    /// After a name that precedes its arguments.
    Named { separated: bool },
    /// In JSON, or directly after it.
    Body(Body),
    /// In a function's parameters.
    Elements(Elements),
    /// In a list of calls written as Python, which began at `start`.
    Python { brackets: Brackets, start: usize },
    /// After `Action:`.
    Action,
}

impl Candidate {
    /// Creates a candidate that a marker of this role opened.
    pub(super) fn opened(role: Role, marker: &str, in_wrapper: bool) -> Self {
        let (kind, stage) = match role {
            Role::WrapperWithAttributes => (Kind::Wrapper, Stage::WrapperTag),
            Role::Function | Role::FunctionWithAttributes => {
                let kind = if in_wrapper { Kind::Wrapper } else { Kind::Function };
                (kind, Stage::FunctionTag { attributes: role == Role::FunctionWithAttributes })
            }
            _ => (Kind::Wrapper, Stage::Payload),
        };
        Self { control: marker.contains(['|', '｜']), ..Self::new(kind, stage, marker.len()) }
    }

    /// Creates a candidate with a marker of this length, in bytes.
    pub(super) fn new(kind: Kind, stage: Stage, marker: usize) -> Self {
        Self {
            kind,
            marker,
            control: false,
            nested: 0,
            quoted: None,
            stage,
            at: marker,
            name: None,
            calls: Vec::new(),
            settled: 0,
        }
    }

    /// Marks it as inside inline code, where a backtick outside a string shows that it is only quoted.
    pub(super) fn in_code(self) -> Self {
        Self { quoted: Some(0), ..self }
    }

    /// Continues with the marker that directly follows the opening one.
    pub(super) fn nest(&mut self, inner: Self, at: usize) -> Step {
        if self.nested == MAX_NESTED {
            return Break(Verdict::Text);
        }
        let (marker, control, quoted) = (self.marker, self.control && inner.control, self.quoted);
        *self = Self { marker, control, quoted, nested: self.nested + 1, at, ..inner };
        Continue(())
    }

    /// Continues reading `text`, which begins with the opening marker and all that was read before.
    ///
    /// It reads in windows whose ends do not depend on the chunking of the text.
    pub(super) fn advance(&mut self, text: &str, declared: &Declared) -> Verdict {
        loop {
            let cap = if self.certain() || self.at > MAX_UNCERTAIN { MAX_CALL } else { MAX_UNCERTAIN };
            let end = text.floor_char_boundary(cap);
            let window = end.min(self.next_tick(text));
            match self.run(&text[..window], declared) {
                Verdict::More if window == text.len() => return Verdict::More,
                Verdict::More if window < end => match &self.stage {
                    Stage::Body(body) if body.in_sound_string() => self.quoted = Some(window + 1),
                    _ => return Verdict::Text,
                },
                Verdict::More if cap < MAX_CALL && self.certain() => {}
                Verdict::More => return self.given_up(window),
                verdict => return verdict,
            }
        }
    }

    /// The next backtick that may end the inline code around the candidate.
    fn next_tick(&mut self, text: &str) -> usize {
        let Some(from) = self.quoted else { return text.len() };
        let tick = text[from..].find('`').map_or(text.len(), |found| from + found);
        self.quoted = Some(tick);
        tick
    }

    fn given_up(&self, length: usize) -> Verdict {
        match self.stage {
            Stage::Body(_) | Stage::Elements(_) | Stage::Python { .. } if !self.bare() => {
                Verdict::Unreadable("the call is too long".to_owned(), length)
            }
            _ => Verdict::Text,
        }
    }

    fn run(&mut self, text: &str, declared: &Declared) -> Verdict {
        loop {
            if let Break(verdict) = self.step(text, declared) {
                return verdict;
            }
        }
    }

    /// Whether it is a call only if it names a declared tool.
    pub(super) fn bare(&self) -> bool {
        matches!(self.kind, Kind::Json | Kind::List | Kind::Action)
    }

    /// Whether it is certainly intended as a call, and well-formed so far.
    fn certain(&self) -> bool {
        match &self.stage {
            _ if self.bare() => false,
            Stage::Body(body) => body.sound(),
            Stage::Elements(elements) => elements.begun(),
            Stage::Python { .. } => true,
            _ => false,
        }
    }

    /// Whether it would have become a call if the text is cut here.
    pub(super) fn meant(&self, declared: &Declared) -> bool {
        match &self.stage {
            Stage::Body(body) if self.bare() => body.names_declared(declared),
            _ => !self.bare(),
        }
    }

    /// Whether the calls are complete and only their wrapper's end is missing.
    pub(super) fn complete(&self) -> bool {
        matches!(&self.stage, Stage::Body(body) if body.complete())
    }

    fn step(&mut self, text: &str, declared: &Declared) -> Step {
        match &mut self.stage {
            Stage::WrapperTag => self.wrapper_tag(text),
            Stage::FunctionTag { attributes } => {
                let attributes = *attributes;
                self.function_tag(text, attributes, declared)
            }
            Stage::Payload => self.payload(text, declared),
            Stage::Named { separated } => {
                let separated = *separated;
                self.named(text, separated, declared)
            }
            Stage::Body(_) => self.body(text, declared),
            Stage::Elements(elements) => {
                let inside = elements.step(text, self.at, declared);
                self.inside(inside)
            }
            Stage::Python { brackets, start } => {
                let (start, end) = (*start, brackets.advance(text, self.at));
                self.python(text, start, end, declared)
            }
            Stage::Action => self.action(text, declared),
        }
    }

    fn inside(&mut self, inside: Inside) -> Step {
        match inside {
            Inside::On(at) => {
                self.at = at;
                Continue(())
            }
            Inside::More(at) => {
                self.at = at;
                Break(Verdict::More)
            }
            Inside::Call(call, end) => Break(Verdict::Calls(vec![call], end)),
            Inside::Unreadable(reason, at) if self.certain() => {
                self.at = at;
                self.stage = Stage::Body(Body::unreadable(reason));
                Continue(())
            }
            Inside::Unreadable(..) => Break(Verdict::Text),
        }
    }

    /// Ends the text: decides an undecided candidate.
    pub(super) fn finish(&mut self, text: &str, declared: &Declared) -> Verdict {
        let bare = self.bare();
        match &mut self.stage {
            Stage::Elements(elements) => match elements.finish(text, declared) {
                Ok((call, end)) => Verdict::Calls(vec![call], end),
                Err(reason) if elements.begun() => Verdict::Unreadable(reason.to_owned(), text.len()),
                Err(_) => Verdict::Text,
            },
            Stage::Body(_) => self.finish_body(text, declared),
            Stage::Action => self.finish_action(text, declared),
            Stage::Python { .. } if !bare => {
                Verdict::Unreadable("the list of calls ends before it is complete".to_owned(), text.len())
            }
            Stage::Payload if self.control && text[self.at..].trim().is_empty() => Verdict::Residue,
            _ => Verdict::Text,
        }
    }
}
