//! One call that may be: from its opening marker until it is a call, cannot be one, or cannot be read.

use std::ops::ControlFlow::{self, Break, Continue};

use super::body::Body;
use super::elements::{Elements, Inside};
use super::pythonic::Brackets;
use crate::declared::Declared;
use crate::markers::Role;
use crate::piece::ParsedCall;

/// The longest text that is held although it need not be a call, in bytes.
pub(super) const MAX_UNCERTAIN: usize = 64 * 1024;
/// The longest call, in bytes.
pub(super) const MAX_CALL: usize = 2 * 1024 * 1024;

/// The most markers between the opening one and the call: each may have to be looked at again as text.
const MAX_NESTED: usize = 8;

/// What opened a candidate, and so how sure it is that it is meant as a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A wrapper: a call to whatever name.
    Wrapper,
    /// A function outside of any wrapper: a call only to a declared name.
    Function,
    /// JSON at the beginning of a line: a call only to a declared name.
    Json,
    /// A bracket at the beginning of a reply: JSON, or a list of calls written as Python.
    List,
    /// `Action:` at the beginning of a line: a call only to a declared name.
    Action,
}

/// What became of a candidate.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// There must be more text.
    More,
    /// These calls; they end before this position.
    Calls(Vec<ParsedCall>, usize),
    /// Not a call: its marker is text, and what follows is to be looked at anew.
    Text,
    /// A marker with nothing behind it that the model did not mean to show.
    Residue,
    /// Meant as a call up to this position, and unreadable for this reason.
    Unreadable(String, usize),
}

/// One step: go on, or a verdict.
pub(super) type Step = ControlFlow<Verdict>;

/// One call that may be. Positions count from the opening marker's first byte.
pub(super) struct Candidate {
    pub(super) kind: Kind,
    /// The length of the opening marker.
    pub(super) marker: usize,
    /// Whether the marker is a control token, which nobody writes in prose.
    pub(super) control: bool,
    /// How many other markers stand between the opening one and the call.
    pub(super) nested: usize,
    /// In inline code: up to here no backtick ends it.
    quoted: Option<usize>,
    pub(super) stage: Stage,
    /// Everything before it is understood.
    pub(super) at: usize,
    /// A name from outside of the arguments.
    pub(super) name: Option<String>,
    pub(super) calls: Vec<ParsedCall>,
    /// Where the last of the calls ends.
    pub(super) settled: usize,
}

/// Where in a candidate the place is.
pub(super) enum Stage {
    /// In a wrapper's tag.
    WrapperTag,
    /// In a function's tag; its name is an attribute or follows an equals sign.
    FunctionTag { attributes: bool },
    /// Behind the opening marker: what kind of content is it?
    Payload,
    /// Behind a name that stands before its arguments.
    Named { separated: bool },
    /// In JSON, or right behind it.
    Body(Body),
    /// In a function's parameters.
    Elements(Elements),
    /// In a list of calls written as Python, which began at `start`.
    Python { brackets: Brackets, start: usize },
    /// Behind `Action:`.
    Action,
}

impl Candidate {
    /// A candidate that a marker of this role opened.
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

    /// A candidate with a marker of this length.
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

    /// The same in inline code, where a backtick outside of a string shows that it is only quoted.
    pub(super) fn in_code(self) -> Self {
        Self { quoted: Some(0), ..self }
    }

    /// Goes on with the marker that follows the opening one directly.
    pub(super) fn nest(&mut self, inner: Self, at: usize) -> Step {
        if self.nested == MAX_NESTED {
            return Break(Verdict::Text);
        }
        let (marker, control, quoted) = (self.marker, self.control && inner.control, self.quoted);
        *self = Self { marker, control, quoted, nested: self.nested + 1, at, ..inner };
        Continue(())
    }

    /// Reads on in `text`, which begins with the opening marker and with all that was read before.
    ///
    /// It works in windows whose ends do not depend on how the text is cut into pieces.
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

    /// Whether only a declared tool makes it a call.
    pub(super) fn bare(&self) -> bool {
        matches!(self.kind, Kind::Json | Kind::List | Kind::Action)
    }

    /// Whether it is decided that it is meant as a call, and well-formed so far.
    fn certain(&self) -> bool {
        match &self.stage {
            _ if self.bare() => false,
            Stage::Body(body) => body.sound(),
            Stage::Elements(elements) => elements.begun(),
            Stage::Python { .. } => true,
            _ => false,
        }
    }

    /// Whether, if the text is cut here, it was going to be a call.
    pub(super) fn meant(&self, declared: &Declared) -> bool {
        match &self.stage {
            Stage::Body(body) if self.bare() => body.names_declared(declared),
            _ => !self.bare(),
        }
    }

    /// Whether the calls are complete and only their wrapper's end is open.
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

    /// Ends the text: decides what is still open.
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
