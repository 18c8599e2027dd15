//! One call that may be: from its opening marker until it is a call, cannot be one, or cannot be read.

use std::ops::ControlFlow::{self, Break, Continue};

use super::attributes::{attributes, name};
use super::body::Body;
use super::elements::{Elements, Inside};
use super::pythonic::{self, Brackets};
use crate::declared::Declared;
use crate::markers::{Look, Role};
use crate::piece::ParsedCall;

/// The longest text that is held although it need not be a call, in bytes.
pub(super) const MAX_UNCERTAIN: usize = 64 * 1024;
/// The longest call, in bytes.
pub(super) const MAX_CALL: usize = 2 * 1024 * 1024;

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

pub(super) type Step = ControlFlow<Verdict>;

/// One call that may be. Positions count from the opening marker's first byte.
pub(super) struct Candidate {
    pub(super) kind: Kind,
    /// The length of the opening marker.
    pub(super) marker: usize,
    /// Whether the marker is a control token, which nobody writes in prose.
    pub(super) control: bool,
    pub(super) stage: Stage,
    /// Everything before it is understood.
    pub(super) at: usize,
    /// A name from outside of the arguments.
    pub(super) name: Option<String>,
    pub(super) calls: Vec<ParsedCall>,
    /// Where the last of the calls ends.
    pub(super) settled: usize,
}

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
    /// A candidate that a marker of this role and length opened.
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

    /// A candidate without a marker of its own.
    pub(super) fn new(kind: Kind, stage: Stage, marker: usize) -> Self {
        Self { kind, marker, control: false, stage, at: marker, name: None, calls: Vec::new(), settled: 0 }
    }

    /// Reads on in `text`, which begins with the opening marker and with all that was read before.
    pub(super) fn advance(&mut self, text: &str, declared: &Declared) -> Verdict {
        loop {
            // The window makes the limits independent of how the text is cut into pieces.
            let certain = self.certain();
            let limit = if certain { MAX_CALL } else { MAX_UNCERTAIN };
            let window = &text[..text.floor_char_boundary(limit)];
            match self.run(window, declared) {
                Verdict::More if window.len() == text.len() => return Verdict::More,
                Verdict::More if certain => {
                    return Verdict::Unreadable("the call is too long".to_owned(), window.len());
                }
                Verdict::More if self.certain() => {}
                Verdict::More => return Verdict::Text,
                verdict => return verdict,
            }
        }
    }

    fn run(&mut self, text: &str, declared: &Declared) -> Verdict {
        loop {
            if let Break(verdict) = self.step(text, declared) {
                return verdict;
            }
        }
    }

    /// Whether it is decided that it is meant as a call.
    pub(super) fn certain(&self) -> bool {
        let explicit = matches!(self.kind, Kind::Wrapper | Kind::Function);
        explicit && matches!(self.stage, Stage::Body(_) | Stage::Elements(_) | Stage::Python { .. })
    }

    /// Whether, if the text is cut here, it was going to be a call.
    pub(super) fn meant(&self, declared: &Declared) -> bool {
        match &self.stage {
            Stage::Body(body) if self.bare() => body.names_declared(declared),
            Stage::Action => false,
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
            Stage::Elements(elements) => match elements.step(text, self.at, declared) {
                Inside::On(at) => {
                    self.at = at;
                    Continue(())
                }
                Inside::More(at) => {
                    self.at = at;
                    Break(Verdict::More)
                }
                Inside::Call(call, end) => Break(Verdict::Calls(vec![call], end)),
                Inside::Unreadable(reason, at) => {
                    self.at = at;
                    self.stage = Stage::Body(Body::unreadable(reason));
                    Continue(())
                }
            },
            Stage::Python { brackets, start } => {
                let start = *start;
                let end = brackets.advance(text, self.at);
                self.python(text, start, end, declared)
            }
            Stage::Action => self.action(text, declared),
        }
    }

    fn wrapper_tag(&mut self, text: &str) -> Step {
        match attributes(&text[self.at..]) {
            Look::Is(found, length) => {
                let Some(name) = found.name else { return Break(Verdict::Text) };
                self.at += length;
                if found.empty {
                    let arguments = serde_json::Value::Object(serde_json::Map::new());
                    return Break(Verdict::Calls(vec![ParsedCall { name, arguments }], self.at));
                }
                self.name = Some(name);
                self.stage = Stage::Payload;
                Continue(())
            }
            Look::Short => Break(Verdict::More),
            Look::No => Break(Verdict::Text),
        }
    }

    fn function_tag(&mut self, text: &str, with_attributes: bool, declared: &Declared) -> Step {
        let rest = &text[self.at..];
        let found = if with_attributes {
            match attributes(rest) {
                Look::Is(found, length) => found.name.map_or(Look::No, |name| Look::Is((name, found.empty), length)),
                Look::Short => Look::Short,
                Look::No => Look::No,
            }
        } else {
            name(rest)
        };
        match found {
            Look::Is((name, empty), length) if self.kind == Kind::Wrapper || declared.has(&name) => {
                self.at += length;
                if empty {
                    let arguments = serde_json::Value::Object(serde_json::Map::new());
                    return Break(Verdict::Calls(vec![ParsedCall { name, arguments }], self.at));
                }
                self.stage = Stage::Elements(Elements::new(name, false));
                Continue(())
            }
            Look::Short => Break(Verdict::More),
            _ => Break(Verdict::Text),
        }
    }

    fn python(&mut self, text: &str, start: usize, end: Result<usize, usize>, declared: &Declared) -> Step {
        let end = match end {
            Ok(end) => end,
            Err(at) => {
                self.at = at;
                return Break(Verdict::More);
            }
        };
        self.at = end;
        let bare = self.kind == Kind::List;
        match pythonic::calls(&text[start..end]) {
            Some(calls) if bare && !calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) => {
                Break(Verdict::Text)
            }
            Some(calls) => {
                self.calls = calls;
                self.settled = end;
                self.stage = Stage::Body(Body::tail(false));
                Continue(())
            }
            None if bare => Break(Verdict::Text),
            None => {
                self.stage = Stage::Body(Body::unreadable("the list of calls cannot be read"));
                Continue(())
            }
        }
    }

    /// Ends the text: decides what is still open.
    pub(super) fn finish(&mut self, text: &str, declared: &Declared) -> Verdict {
        match &mut self.stage {
            Stage::Elements(elements) => match elements.finish(text, declared) {
                Ok((call, end)) => Verdict::Calls(vec![call], end),
                Err(reason) => Verdict::Unreadable(reason.to_owned(), text.len()),
            },
            Stage::Body(_) => self.finish_body(text, declared),
            Stage::Action => self.finish_action(text, declared),
            Stage::Python { .. } if self.kind != Kind::List => {
                Verdict::Unreadable("the list of calls ends before it is complete".to_owned(), text.len())
            }
            Stage::Payload if self.control && text[self.at..].trim().is_empty() => Verdict::Residue,
            _ => Verdict::Text,
        }
    }
}
