//! The content of a function whose elements are named after its parameters.

use std::ops::ControlFlow::{self, Continue};

use super::elements::{ElementEnd, ElementStage, ElementStep, FunctionElements, need_more, not_parameters};
use super::end_tag::{find_end_tag, match_end_tag, match_other_end_tag};
use super::parameter::Parameter;
use super::yaml;
use crate::declared_tools::DeclaredTools;
use crate::markers::{Match, OPENERS};
use crate::scanner::tool_tag::{match_parameter_tag, match_tag, match_tool_tag};

type OptionalStep = ControlFlow<ElementEnd, Option<usize>>;

impl FunctionElements {
    /// Reads the end tag with the function's name, or the tag of an element that is named after its parameter; `None` for
    /// anything else.
    pub(super) fn read_own_names(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> OptionalStep {
        let rest = &text[at..];
        if self.has_end_tag
            && let Some(((), length)) = match_end_tag(rest, &self.name).or_wait(ElementEnd::NeedMore(at))?
        {
            let is_whole = !self.arguments.is_empty() || declared.has_required(&self.name, &self.arguments);
            return if is_whole { self.end_call(at + length) } else { not_parameters(at) }.map_continue(Some);
        }
        let tag = match_parameter_tag(rest, &self.name, declared).or_wait(ElementEnd::NeedMore(at))?;
        if let Some((tag, length)) = tag {
            let (key, start) = (tag.name.to_owned(), at + length);
            self.stage = ElementStage::Named(Parameter { key, start, ..Parameter::default() });
            if tag.is_empty {
                self.set_argument("", declared);
                self.last_argument_end = start;
            }
            return Continue(Some(start));
        }
        if !self.is_in_tool_tag() || !self.arguments.is_empty() {
            return Continue(None);
        }
        self.read_first_key(text, at, declared)
    }

    /// Reads the first key of parameters that are written as YAML: a known one, or one on a line of its own.
    fn read_first_key(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> OptionalStep {
        let Some((key, _)) = yaml::match_key(&text[at..]).or_wait(ElementEnd::NeedMore(at))? else {
            return Continue(None);
        };
        let line = text[..at].trim_end_matches([' ', '\t']);
        let begins_line = line.ends_with('\n');
        let is_known = declared.parameter(&self.name, key).is_some();
        if !is_known && !begins_line {
            return Continue(None);
        }
        let start = if begins_line { line.len() } else { at };
        self.stage = ElementStage::Yaml { start, is_certain: is_known };
        Continue(Some(at))
    }

    /// Reads parameters written as YAML up to the function's end tag.
    pub(super) fn read_yaml(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let ElementStage::Yaml { start, is_certain } = self.stage else { return Continue(at) };
        let found = if is_certain {
            find_end_tag(text, at, &self.name).map_err(NoEnd::YetFrom)
        } else {
            find_end_before_call(text, at, text.len(), &[&self.name], declared).map(|(_, from, to)| (from, to))
        };
        match found {
            Ok((content_end, end)) if self.take_yaml(&text[start..content_end], declared, true) => self.end_call(end),
            Ok((_, end)) | Err(NoEnd::Before(end)) => not_parameters(end),
            Err(NoEnd::YetFrom(resume)) => need_more(resume),
        }
    }

    /// Takes the arguments from YAML; returns false if they are none, or one is missing.
    fn take_yaml(&mut self, content: &str, declared: &DeclaredTools, is_closed: bool) -> bool {
        let arguments = yaml::parse_parameters(content, &self.name, declared, is_closed);
        let arguments = arguments.filter(|arguments| declared.has_required(&self.name, arguments));
        arguments.map(|arguments| self.arguments = arguments).is_some()
    }

    pub(super) fn finish_yaml(&mut self, text: &str, declared: &DeclaredTools) -> Option<usize> {
        let ElementStage::Yaml { start, is_certain: true } = self.stage else { return None };
        let content = &text[start..];
        let open_tag = content.rfind('<').filter(|at| match_end_tag(&content[*at..], &self.name) == Match::Partial);
        let content = &content[..open_tag.unwrap_or(content.len())];
        self.take_yaml(content, declared, false).then_some(text.len())
    }

    /// Reads the value of an element that is named after its parameter. It ends where markup follows its end tag.
    pub(super) fn read_named(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let ElementStage::Named(Parameter { key, start, literal, .. }) = &mut self.stage else { return Continue(at) };
        let start = *start;
        let (end, after) = match find_end_tag(text, at, key) {
            Ok(found) => found,
            Err(resume) => return need_more(resume),
        };
        let Some(next) = text[self.space.end(text, after)..].chars().next() else { return need_more(end) };
        // A function without a tag of its own has no other markup.
        let ends_value = self.is_after_name_line || matches!(next, '<' | '[' | ']');
        if ends_value && !literal.is_open_at(text, start, end) {
            self.set_argument(&text[start..end], declared);
            self.last_argument_end = after;
        }
        Continue(after)
    }

    /// Ends the text in an element that is named after its parameter: its end tag ends the text, only the function has an end
    /// tag, or text follows the first end tag. Returns the end of the call.
    pub(super) fn finish_named(&mut self, text: &str, declared: &DeclaredTools) -> Option<usize> {
        let ElementStage::Named(Parameter { key, start, .. }) = &self.stage else { return None };
        let (start, trimmed) = (*start, text.trim_end());
        let last = trimmed[start..].rfind("</").map(|at| start + at);
        let last = last.filter(|at| match_end_tag(&trimmed[*at..], key) == Match::Full((), trimmed.len() - at));
        let own = || find_end_tag(text, start, &self.name).ok().filter(|_| self.has_end_tag);
        let found = last.map(|at| (at, trimmed.len())).or_else(own);
        let (value_end, end) = found.or_else(|| find_end_tag(text, start, key).ok())?;
        self.set_argument(&text[start..value_end], declared);
        self.may_end_unclosed(declared).then_some(end)
    }

    /// Reads past the tag of an element that is no parameter, or a stray end tag; `None` for anything else.
    pub(super) fn read_unknown_element(&mut self, text: &str, at: usize) -> OptionalStep {
        if !self.has_end_tag {
            return Continue(None);
        }
        let rest = &text[at..];
        if let Some(((), length)) = match_other_end_tag(rest).or_wait(ElementEnd::NeedMore(at))? {
            return Continue(Some(at + length));
        }
        let Some((tag, length)) = match_tag(rest).or_wait(ElementEnd::NeedMore(at))? else { return Continue(None) };
        if !tag.is_empty {
            self.stage = ElementStage::Unknown { name: tag.name.to_owned(), start: at + length };
        }
        Continue(Some(at + length))
    }

    /// Reads past an element that is no parameter: to its end tag, or to the function's. Where another call begins before it,
    /// or after [`MAX_UNKNOWN_BYTES`], the function ends.
    pub(super) fn skip_unknown_element(&mut self, text: &str, at: usize, declared: &DeclaredTools) -> ElementStep {
        let ElementStage::Unknown { name, start } = &self.stage else { return Continue(at) };
        let limit = text.floor_char_boundary(start + MAX_UNKNOWN_BYTES);
        let next = match find_end_before_call(text, at, limit, &[&self.name, name], declared) {
            Ok((0, own, _)) => own,
            Ok((_, _, end)) => end,
            Err(NoEnd::YetFrom(resume)) => return need_more(resume),
            Err(NoEnd::Before(_)) if self.may_end_unclosed(declared) => {
                return self.end_call(self.last_argument_end);
            }
            // Not the position from which this was read, which depends on the chunks.
            Err(NoEnd::Before(end)) => return not_parameters(end),
        };
        self.stage = ElementStage::Between;
        Continue(next)
    }
}

const MAX_UNKNOWN_BYTES: usize = 4096;

/// Why no end tag was found.
enum NoEnd {
    /// It may follow; the search resumes at this position.
    YetFrom(usize),
    /// Another call begins at this position, or the limit is there. The text before it is not read again for that call.
    Before(usize),
}

/// Finds the first end tag of one of these names: which of them, where it begins and ends.
fn find_end_before_call(
    text: &str,
    from: usize,
    limit: usize,
    names: &[&str],
    declared: &DeclaredTools,
) -> Result<(usize, usize, usize), NoEnd> {
    let mut at = from;
    while let Some(found) = text.get(at..limit).unwrap_or_default().find('<') {
        at += found;
        let rest = &text[at..];
        let mut is_partial = false;
        for (index, name) in names.iter().enumerate() {
            match match_end_tag(rest, name) {
                Match::Full((), length) => return Ok((index, at, at + length)),
                matched => is_partial |= matched == Match::Partial,
            }
        }
        match (OPENERS.match_prefix(rest), match_tool_tag(rest, declared)) {
            (Match::Full(..), _) | (_, Match::Full(..)) => return Err(NoEnd::Before(at)),
            (opener, tag) if is_partial || opener.is_found() || tag.is_found() => return Err(NoEnd::YetFrom(at)),
            _ => at += 1,
        }
    }
    Err(if limit == text.len() { NoEnd::YetFrom(limit) } else { NoEnd::Before(limit) })
}
