//! Content of a wrapper in no known format: a malformed call if the wrapper cannot be prose.

use std::ops::ControlFlow::{Break, Continue};

use super::attributes::space_len;
use super::candidate::{Candidate, CandidateKind, CandidateStage, Step, Verdict};
use super::name::is_name;
use super::payload::{MAX_NAME_BYTES, undecorated_name};
use crate::declared_tools::DeclaredTools;
use crate::markers::{CLOSERS, Match, OPENERS};
use crate::segment::MalformedReason;

/// Maximum size of such content, in bytes.
const MAX_CONTENT_BYTES: usize = 1024;

impl Candidate {
    /// Continues with the search for the wrapper's end if the content has no known format and may still be meant as a
    /// call: it begins with a declared name or is written like a call, or it directly follows a marker that begins a line.
    pub(super) fn or_unknown_format(&mut self, step: Step, text: &str, declared: &DeclaredTools) -> Step {
        if step != Break(Verdict::Text) || !self.may_have_unknown_format() {
            return step;
        }
        let content = &text[self.payload..];
        let space = space_len(content);
        // Prose also explains control tokens at the start of a line, but then a blank follows them.
        let is_direct = space == 0 || (content[..space].contains('\n') && !self.is_control_token);
        if matches!(self.stage, CandidateStage::FunctionTag { .. }) && is_open_name(&content[space..]) {
            return Break(Verdict::NeedMore);
        }
        let is_written_as_call = !self.has_tag_name() && is_written_as_call(&content[space..]);
        let is_named = self.names_declared(text, declared) || is_written_as_call;
        let continues_prose = content.starts_with([',', '.', ';', ')', '"', '，', '。', '、', '；', '）', '”']);
        let may_be_prose = !self.begins_line() && (!self.is_control_token || continues_prose);
        if !(is_named || is_direct && !may_be_prose || self.has_recipient(text)) {
            return step;
        }
        // A function's tag alone may be prose: without its end it is text.
        let is_named = is_named && !matches!(self.stage, CandidateStage::Elements(_));
        self.stage = CandidateStage::Unknown { search: self.payload, is_named };
        Continue(())
    }

    /// Whether the marker ends in the recipient of a message, which is no part of prose.
    pub(super) fn has_recipient(&self, text: &str) -> bool {
        text[..self.marker_len].ends_with("to=")
    }

    /// Whether the tag names the tool, so that the content begins with its arguments.
    fn has_tag_name(&self) -> bool {
        matches!(self.stage, CandidateStage::Payload) && self.name.is_some()
    }

    /// Whether the candidate has an explicit wrapper, or is the content of a function with a declared name.
    fn may_have_unknown_format(&self) -> bool {
        let CandidateStage::Elements(elements) = &self.stage else { return self.kind == CandidateKind::Wrapper };
        let is_function = self.kind == CandidateKind::Function && self.begins_line();
        // Markup with a tool's name may be anything, until a parameter follows.
        !elements.is_in_tool_tag() && (self.kind == CandidateKind::Wrapper || is_function)
    }

    /// Whether the tag names a declared tool or, without a name in it, the content begins with one.
    pub(super) fn names_declared(&self, text: &str, declared: &DeclaredTools) -> bool {
        match (&self.stage, &self.name) {
            (CandidateStage::Unknown { is_named, .. }, _) => *is_named,
            (CandidateStage::Payload, Some(name)) => declared.has(name),
            (CandidateStage::Elements(elements), _) => declared.has(elements.name()),
            _ => {
                // Only the white space that reading a payload skips: after any other the name may not have arrived yet.
                let content = &text[self.payload..];
                let content = &content[space_len(content)..];
                let name = &content[..content.find(|c| !is_name(c)).unwrap_or(content.len())];
                declared.has(undecorated_name(name).trim_end_matches(':'))
            }
        }
    }

    /// Searches the wrapper's end. Another opening marker before it shows that the first one was only mentioned.
    pub(super) fn read_unknown_format(&mut self, text: &str, search: usize) -> Step {
        let limit = text.floor_char_boundary(self.payload.saturating_add(MAX_CONTENT_BYTES));
        let mut at = search;
        while let Some(found) = text[at..limit].find(['<', '[']) {
            at += found;
            match (CLOSERS.match_prefix(&text[at..]), OPENERS.match_prefix(&text[at..])) {
                (Match::Full(_, length), _) => {
                    return Break(Verdict::Unreadable(MalformedReason::UnknownFormat, at + length));
                }
                // Noise in a wrapper of control tokens.
                (_, Match::Full(..)) if self.is_control_token => return Break(Verdict::Calls(Vec::new(), at)),
                (_, Match::Full(..)) => return Break(Verdict::Text),
                (Match::Partial, _) | (_, Match::Partial) => return self.wait_in_unknown_format(at),
                (Match::None, Match::None) => at += 1,
            }
        }
        if limit < text.len() { Break(Verdict::Text) } else { self.wait_in_unknown_format(limit) }
    }

    fn wait_in_unknown_format(&mut self, search: usize) -> Step {
        if let CandidateStage::Unknown { search: at, .. } = &mut self.stage {
            *at = search;
        }
        Break(Verdict::NeedMore)
    }
}

/// Whether the content may still become a name: it is one so far, or nothing.
fn is_open_name(content: &str) -> bool {
    content.len() <= MAX_NAME_BYTES && content.chars().all(is_name)
}

/// Whether the content is a name with an argument list: `f(q="a")`.
fn is_written_as_call(content: &str) -> bool {
    let end = content.find(|c| !is_name(c)).unwrap_or(content.len());
    (1..=MAX_NAME_BYTES).contains(&end) && content[end..].starts_with('(')
}
