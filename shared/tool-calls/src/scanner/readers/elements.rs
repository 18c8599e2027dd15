use std::ops::ControlFlow::{self, Break, Continue};

use serde_json::{Map, Value};

use super::body::Body;
use super::nested_elements;
use super::parameter::{Parameter, element_prefix};
use crate::declared_tools::DeclaredTools;
use crate::json::{JsonScan, ScanStep};
use crate::json_calls::unwrap_only_argument;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match, OPENERS, PARAMETERS};
use crate::repair::repair;
use crate::scanner::attributes::space_len;
use crate::scanner::candidate::{Candidate, Opening, Progress, Reader, Step, Verdict};
use crate::scanner::space::SpaceScan;
use crate::segment::{JsonFault, MalformedReason, ParsedCall};

/// Maximum length of a key between its tags, in bytes.
pub(super) const MAX_KEY_BYTES: usize = 256;
const MAX_MARKUP_BYTES: usize = 1024;

/// Where in a function's content the reader is.
#[derive(Default)]
pub(super) enum ElementStage {
    /// Before a parameter or the end.
    #[default]
    Between,
    /// In the tag of a parameter whose element has this prefix.
    Tag {
        attributes: bool,
        prefix: String,
    },
    /// In the text between `<arg_key>` and `</arg_key>`.
    Key,
    Value(Parameter),
    /// In the value of an element that is named after its parameter.
    Named(Parameter),
    /// In an element that is no parameter; its content began at `start`.
    Unknown {
        name: String,
        start: usize,
    },
    /// In parameters written as YAML, which began at `start`; certain if the first of them is known.
    Yaml {
        start: usize,
        is_certain: bool,
    },
    /// In a JSON object that began at `start`.
    Json {
        scan: Box<JsonScan>,
        start: usize,
    },
}

/// One step: the position at which to continue, or why not.
pub(super) type ElementStep = ControlFlow<ElementEnd, usize>;

/// What ends the reading of a function's content for now.
pub(super) enum ElementEnd {
    /// More text is needed; then continue from this position.
    NeedMore(usize),
    Call(ParsedCall, usize),
    /// From this position on the text is not a valid function.
    Unreadable(MalformedReason, usize),
}

pub(super) fn need_more(at: usize) -> ElementStep {
    Break(ElementEnd::NeedMore(at))
}

pub(super) fn not_parameters(at: usize) -> ElementStep {
    Break(ElementEnd::Unreadable(MalformedReason::NotParameters, at))
}

/// The content of a function written as XML: parameters one by one, or its arguments as one JSON object.
#[derive(Default)]
pub(in crate::scanner) struct FunctionElements {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    pub(super) stage: ElementStage,
    pub(super) last_argument_end: usize,
    /// Whether a wrapper's end tag closes the function, as in `<tool_call>f<arg_key>…`, instead of its own end tag.
    closed_by_wrapper: bool,
    /// Whether the function may end with a tag that is its name.
    pub(super) has_end_tag: bool,
    /// Whether its name is on a line of its own, without a tag.
    pub(super) is_after_name_line: bool,
    /// Nested parameters have no end before this position.
    nested_from: usize,
    pub(super) space: SpaceScan,
}

impl Reader for FunctionElements {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        match self.step(text, candidate.at, declared) {
            Continue(at) => {
                candidate.at = at;
                Continue(None)
            }
            Break(ElementEnd::NeedMore(at)) => {
                candidate.at = at;
                Break(Verdict::NeedMore)
            }
            Break(ElementEnd::Call(call, end)) => {
                Break(Verdict::Calls(vec![unwrap_only_argument(call, declared)], end))
            }
            Break(ElementEnd::Unreadable(reason, at)) if self.has_content() || candidate.is_control_token => {
                candidate.read_with(at, Body::unreadable(reason))
            }
            Break(ElementEnd::Unreadable(..)) => Break(Verdict::Text),
        }
    }

    fn finish(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Verdict {
        match self.end(text, declared) {
            Ok(end) => Verdict::Calls(vec![unwrap_only_argument(self.take_call(), declared)], end),
            Err(reason) if self.has_content() => Verdict::Unreadable(reason, text.len()),
            Err(_) if self.is_in_tool_tag() => Verdict::Text,
            Err(_) => candidate.finish_opening(text),
        }
    }

    fn progress(&self) -> Progress {
        if self.has_content() { Progress::Certain } else { Progress::Content }
    }

    /// Markup with a tool's name may be anything, until a parameter follows.
    fn opening(&self) -> Option<Opening> {
        (!self.is_in_tool_tag()).then_some(Opening::Elements)
    }

    fn names_declared(&self, _candidate: &Candidate, _text: &str, declared: &DeclaredTools) -> bool {
        declared.has(&self.name)
    }
}

impl FunctionElements {
    pub(super) fn new(name: String, closed_by_wrapper: bool) -> Self {
        Self { name, closed_by_wrapper, ..Self::default() }
    }

    pub(super) fn in_tool_tag(name: String) -> Self {
        Self { has_end_tag: true, ..Self::new(name, false) }
    }

    pub(in crate::scanner) fn after_name_line(name: String) -> Self {
        Self { is_after_name_line: true, ..Self::in_tool_tag(name) }
    }

    /// The content of a wrapper whose name precedes its elements: `f`, then `<q>a</q>`.
    pub(super) fn after_name(name: String) -> Self {
        Self { closed_by_wrapper: true, ..Self::in_tool_tag(name) }
    }

    pub(super) fn is_in_tool_tag(&self) -> bool {
        self.has_end_tag && !self.closed_by_wrapper
    }

    /// Whether any content after the function's name has been read.
    fn has_content(&self) -> bool {
        let is_open = matches!(
            self.stage,
            ElementStage::Between | ElementStage::Unknown { .. } | ElementStage::Yaml { is_certain: false, .. }
        );
        !self.arguments.is_empty() || !is_open
    }

    fn step(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        match &self.stage {
            ElementStage::Between => self.read_between(text, at, declared),
            ElementStage::Tag { .. } => self.read_tag(text, at),
            ElementStage::Key => self.read_key(text, at, declared),
            ElementStage::Value(_) => self.read_value(text, at, declared),
            ElementStage::Named(_) => self.read_named(text, at, declared),
            ElementStage::Unknown { .. } => self.skip_unknown_element(text, at, declared),
            ElementStage::Yaml { .. } => self.read_yaml(text, at, declared),
            ElementStage::Json { .. } => self.read_json(text, at),
        }
    }

    /// Ends the text: returns the end of the call if everything in it was closed, else the reason why not.
    ///
    /// A value closed only by a wrapper's end tag counts as closed.
    fn end(&mut self, text: &str, declared: &DeclaredTools) -> Result<usize, MalformedReason> {
        let end = match &self.stage {
            ElementStage::Between | ElementStage::Unknown { .. } if self.may_end_unclosed(declared) => {
                Some(self.last_argument_end)
            }
            ElementStage::Value(parameter) if !parameter.is_in_string() => {
                let start = parameter.start;
                let end = CLOSERS.find(text, start).ok().map(|(end, ..)| end);
                end.inspect(|end| self.set_argument(&text[start..*end], declared))
            }
            ElementStage::Named(_) => self.finish_named(text, declared),
            ElementStage::Yaml { .. } => self.finish_yaml(text, declared),
            ElementStage::Json { .. } => return Err(MalformedReason::NotJson(JsonFault::Incomplete)),
            _ => None,
        };
        end.ok_or(MalformedReason::NotParameters)
    }

    fn read_between(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let at = at + space_len(&text[at..]);
        let rest = &text[at..];
        if rest.starts_with('{') && self.arguments.is_empty() {
            self.stage = ElementStage::Json { scan: Box::default(), start: at };
            return Continue(at);
        }
        if rest.starts_with(nested_elements::TOKEN) && self.arguments.is_empty() {
            return self.read_nested(text, at, declared);
        }
        if nested_elements::TOKEN.starts_with(rest) && !rest.is_empty() {
            return need_more(at);
        }
        if let Some((role, length)) = PARAMETERS.match_prefix(rest).or_wait(ElementEnd::NeedMore(at))? {
            self.stage = match role {
                Role::FunctionEnd => return self.end_call(at + length),
                Role::ParameterEnd => return Continue(at + length),
                Role::Key => ElementStage::Key,
                role => ElementStage::Tag {
                    attributes: role == Role::ParameterWithAttributes,
                    prefix: element_prefix(&rest[..length]).to_owned(),
                },
            };
            return Continue(at + length);
        }
        if let Some(next) = self.read_own_names(text, at, declared)? {
            return Continue(next);
        }
        if let Some((_, length)) = CLOSERS.match_prefix(rest).or_wait(ElementEnd::NeedMore(at))? {
            return self.end_call(at + length);
        }
        let opener = OPENERS.match_prefix(rest);
        if opener == Match::None
            && let Some(next) = self.read_unknown_element(text, at)?
        {
            return Continue(next);
        }
        match opener {
            Match::Partial => need_more(at),
            Match::Full(..) if !self.arguments.is_empty() => self.end_call(self.last_argument_end),
            Match::None if self.may_end_unclosed(declared) => match find_closer_after_markup(rest) {
                Match::Full((), _) => not_parameters(at),
                Match::Partial => need_more(at),
                Match::None => self.end_call(self.last_argument_end),
            },
            _ => not_parameters(at),
        }
    }

    fn read_nested(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let from = at.max(self.nested_from);
        let Some(end) = text[from..].find(nested_elements::END).map(|found| from + found) else {
            self.nested_from = text.floor_char_boundary(text.len().saturating_sub(nested_elements::END.len()));
            return need_more(at);
        };
        let Some(arguments) = nested_elements::parse_parameters(&text[at..end], &self.name, declared) else {
            return not_parameters(at);
        };
        self.arguments = arguments;
        self.end_call(end + nested_elements::END.len())
    }

    /// Whether a missing end tag is tolerated: no required argument is missing.
    pub(super) fn may_end_unclosed(&self, declared: &DeclaredTools) -> bool {
        let is_complete = !declared.has(&self.name) || declared.has_required(&self.name, &self.arguments);
        !self.arguments.is_empty() && (self.closed_by_wrapper || is_complete)
    }

    fn read_json(&mut self, text: &str, at: usize) -> ElementStep {
        let ElementStage::Json { scan, start } = &mut self.stage else { return Continue(at) };
        let end = match scan.advance(text, at) {
            ScanStep::NeedMore(next) | ScanStep::EarlyCheck(next) => return need_more(next),
            ScanStep::End(end) => end,
            ScanStep::Foreign(position) => match CLOSERS.match_prefix(&text[position..]) {
                Match::Full(..) => position,
                Match::Partial => return need_more(position),
                Match::None => return Continue(scan.skip_foreign(position)),
            },
        };
        let value = scan.take().or_else(|| if scan.is_in_string() { None } else { repair(&text[*start..end]) });
        let Some(Value::Object(arguments)) = value else {
            return Break(ElementEnd::Unreadable(MalformedReason::NotJson(JsonFault::Unreadable), end));
        };
        self.arguments = arguments;
        self.stage = ElementStage::Between;
        self.last_argument_end = end;
        Continue(end)
    }

    pub(super) fn end_call(&mut self, end: usize) -> ElementStep {
        Break(ElementEnd::Call(self.take_call(), end))
    }

    fn take_call(&mut self) -> ParsedCall {
        let (name, arguments) = (std::mem::take(&mut self.name), std::mem::take(&mut self.arguments));
        ParsedCall { name, arguments: Value::Object(arguments) }
    }
}

/// Whether the text is markup up to the end of a function or a wrapper, with no other call before that.
fn find_closer_after_markup(text: &str) -> Match<()> {
    if !text.starts_with('<') {
        return Match::None;
    }
    let limit = text.floor_char_boundary(MAX_MARKUP_BYTES);
    let mut at = 0;
    while let Some(found) = text[at..limit].find(['<', '[']) {
        at += found;
        match (CLOSERS.match_prefix(&text[at..]), OPENERS.match_prefix(&text[at..])) {
            (Match::Full(_, length), _) => return Match::Full((), at + length),
            (_, Match::Full(..)) => return Match::None,
            (Match::Partial, _) | (_, Match::Partial) => return Match::Partial,
            (Match::None, Match::None) => at += 1,
        }
    }
    if limit < text.len() { Match::None } else { Match::Partial }
}
