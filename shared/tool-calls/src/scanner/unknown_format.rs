//! Content of a wrapper in no known format: a malformed call if the wrapper cannot be prose.

use std::ops::ControlFlow::{Break, Continue};

use super::attributes::space_len;
use super::candidate::{Candidate, CandidateKind, CandidateStage, Step, Verdict};
use super::payload::{is_name, undecorated_name};
use crate::declared_tools::DeclaredTools;
use crate::markers::{CLOSERS, Match, OPENERS};
use crate::segment::MalformedReason;

/// Maximum size of such content, in bytes.
const MAX_CONTENT_BYTES: usize = 1024;

impl Candidate {
    /// Continues with the search for the wrapper's end if the content has no known format and may still be meant as a
    /// call: it begins with a declared name, or it directly follows a tag that begins a line.
    pub(super) fn or_unknown_format(&mut self, step: Step, text: &str, declared: &DeclaredTools) -> Step {
        if step != Break(Verdict::Text) || self.kind != CandidateKind::Wrapper {
            return step;
        }
        let content = &text[self.payload..];
        let space = space_len(content);
        let is_direct = space == 0 || content[..space].contains('\n');
        let is_named = self.names_declared(text, declared);
        if !(is_named || self.is_tag_at_line_start() && is_direct) {
            return step;
        }
        self.stage = CandidateStage::Unknown { search: self.payload, is_named };
        Continue(())
    }

    /// Whether the tag names a declared tool or, without a name in it, the content begins with one.
    pub(super) fn names_declared(&self, text: &str, declared: &DeclaredTools) -> bool {
        match (&self.stage, &self.name) {
            (CandidateStage::Unknown { is_named, .. }, _) => *is_named,
            (CandidateStage::Payload, Some(name)) => declared.has(name),
            _ => {
                let content = text[self.payload..].trim_start();
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
