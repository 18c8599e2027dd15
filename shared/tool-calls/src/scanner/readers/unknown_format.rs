//! Content of a wrapper in no known format: a malformed call if the wrapper cannot be prose (R8).

use std::ops::ControlFlow::Break;

use super::names::MAX_NAME_BYTES;
use crate::declared_tools::DeclaredTools;
use crate::markers::{CLOSERS, Match, OPENERS};
use crate::scanner::attributes::space_len;
use crate::scanner::candidate::{Candidate, CandidateKind, Opening, Reader, Step, Verdict};
use crate::scanner::name::name_len;
use crate::segment::MalformedReason;

/// Maximum size of such content, in bytes.
const MAX_CONTENT_BYTES: usize = 1024;

struct UnknownFormat {
    /// Before this position there is no marker.
    search: usize,
    is_named: bool,
}

impl Candidate {
    /// Continues with the search for the wrapper's end if the content, which this reader cannot read, may still be meant as a
    /// call: it begins with a declared name or is written like a call, or it directly follows a marker that begins a line.
    pub(in crate::scanner) fn search_unknown_format(
        &mut self,
        reader: &dyn Reader,
        text: &str,
        declared: &DeclaredTools,
    ) -> Step {
        let is_wrapper = self.kind == CandidateKind::Wrapper;
        let opening = match reader.opening() {
            Some(opening @ (Opening::FunctionTag | Opening::Payload | Opening::AfterName)) if is_wrapper => opening,
            Some(Opening::Elements) if is_wrapper || self.begins_line => Opening::Elements,
            _ => return Break(Verdict::Text),
        };
        let content = &text[self.payload..];
        let space = space_len(content);
        let (blanks, rest) = content.split_at(space);
        let length = name_len(rest);
        // The name in a tag may not have arrived yet.
        if opening == Opening::FunctionTag && length == rest.len() && length <= MAX_NAME_BYTES {
            return Break(Verdict::NeedMore);
        }
        // Prose also explains control tokens at the start of a line, but then a blank follows them.
        let is_direct = space == 0 || (blanks.contains('\n') && !self.is_control_token);
        let has_tag_name = opening == Opening::Payload && self.name.is_some();
        let is_written_as_call =
            !has_tag_name && (1..=MAX_NAME_BYTES).contains(&length) && rest[length..].starts_with('(');
        let is_named = is_written_as_call || reader.names_declared(self, text, declared);
        let continues_prose = content.starts_with([',', '.', ';', ')', '"', '，', '。', '、', '；', '）', '”']);
        let may_be_prose = !self.begins_line && (!self.is_control_token || continues_prose);
        if !(is_named || is_direct && !may_be_prose || self.has_recipient(text)) {
            return Break(Verdict::Text);
        }
        // A function's tag alone may be prose: without its end it is text.
        let is_named = is_named && opening != Opening::Elements;
        let search = self.payload;
        self.read_with(self.at, UnknownFormat { search, is_named })
    }
}

impl Reader for UnknownFormat {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, _declared: &DeclaredTools) -> Step {
        let limit = text.floor_char_boundary(candidate.payload.saturating_add(MAX_CONTENT_BYTES));
        while let Some(found) = text[self.search..limit].find(['<', '[']) {
            self.search += found;
            let rest = &text[self.search..];
            match (CLOSERS.match_prefix(rest), OPENERS.match_prefix(rest)) {
                (Match::Full(_, length), _) => {
                    return Break(Verdict::Unreadable(MalformedReason::UnknownFormat, self.search + length));
                }
                // Noise in a wrapper of control tokens.
                (_, Match::Full(..)) if candidate.is_control_token => {
                    return Break(Verdict::Calls(Vec::new(), self.search));
                }
                (_, Match::Full(..)) => return Break(Verdict::Text),
                (Match::None, Match::None) => self.search += 1,
                _ => return Break(Verdict::NeedMore),
            }
        }
        self.search = limit;
        Break(if limit < text.len() { Verdict::Text } else { Verdict::NeedMore })
    }

    fn finish(&mut self, candidate: &mut Candidate, text: &str, _declared: &DeclaredTools) -> Verdict {
        let is_call = self.is_named || candidate.has_recipient(text);
        if is_call { Verdict::Unreadable(MalformedReason::UnknownFormat, text.len()) } else { Verdict::Text }
    }
}
