//! Reads a candidate from its opening marker until it is a call, cannot be one, or is unreadable.

use std::ops::ControlFlow::{Break, Continue};

use super::candidate::{Candidate, CandidateKind, Certainty, Progress, Reader, Verdict};
use super::readers::opening::open_marker;
use super::readers::python::PythonCalls;
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::segment::MalformedReason;

const MAX_UNCERTAIN_BYTES: usize = 64 * 1024;
const MAX_CALL_BYTES: usize = 2 * 1024 * 1024;

pub(super) struct OpenCandidate {
    pub(super) candidate: Candidate,
    reader: Box<dyn Reader>,
    /// In inline code: no backtick before this position ends it.
    quoted_up_to: Option<usize>,
    /// Where the current window ends.
    limit: usize,
    /// Whether it was certain at the end of the last window.
    was_certain: bool,
}

impl OpenCandidate {
    pub(super) fn from_marker(role: Role, marker: &str, in_wrapper: bool) -> Self {
        let (candidate, reader) = open_marker(role, marker, in_wrapper);
        Self { candidate, reader, quoted_up_to: None, limit: MAX_UNCERTAIN_BYTES, was_certain: false }
    }

    pub(super) fn new(kind: CandidateKind, reader: impl Reader + 'static, marker_len: usize) -> Self {
        let (candidate, reader) = (Candidate::new(kind, marker_len), Box::new(reader));
        Self { candidate, reader, quoted_up_to: None, limit: MAX_UNCERTAIN_BYTES, was_certain: false }
    }

    /// Creates a candidate that begins with the name of a declared tool, before its arguments in round brackets. It is a call only
    /// if the reply is nothing else.
    pub(super) fn plain_call(name: &str) -> Self {
        let mut open = Self::new(CandidateKind::Json, PythonCalls::new(name.len()), 0);
        open.candidate.name = Some(name.to_owned());
        (open.candidate.at, open.candidate.certainty) = (name.len(), Certainty::Possible);
        open
    }

    /// Marks it as inside inline code, where a backtick outside a string shows that it is only quoted.
    pub(super) fn in_inline_code(self) -> Self {
        Self { quoted_up_to: Some(0), ..self }
    }

    /// Records whether the text before it introduces an example.
    pub(super) fn check_example(&mut self, is_example: impl FnOnce() -> bool) {
        if self.candidate.certainty == Certainty::Unchecked {
            self.candidate.certainty = if is_example() { Certainty::Possible } else { Certainty::Exact };
        }
    }

    /// Continues reading `text`, which begins with the opening marker and all that was read before.
    ///
    /// It reads in windows whose ends do not depend on the chunking of the text (R2, R12). Where a window ends, a candidate continues that
    /// is certain, or was at the window's beginning: so nothing before it lifts the bound of what is uncertain.
    pub(super) fn advance(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        loop {
            let end = text.floor_char_boundary(self.limit);
            let window = end.min(self.find_tick(text));
            match self.run(&text[..window], declared) {
                Verdict::NeedMore if window == text.len() => return Verdict::NeedMore,
                Verdict::NeedMore if window < end => match self.reader.progress() {
                    Progress::InString => self.quoted_up_to = Some(window + 1),
                    _ => return Verdict::Text,
                },
                Verdict::NeedMore if self.limit < MAX_CALL_BYTES && (self.is_certain() || self.was_certain) => {
                    self.was_certain = self.is_certain();
                    self.limit += MAX_UNCERTAIN_BYTES;
                }
                Verdict::NeedMore if self.candidate.is_bare() || self.reader.progress() == Progress::Opening => {
                    return Verdict::Text;
                }
                Verdict::NeedMore => return Verdict::Unreadable(MalformedReason::TooLong, window),
                verdict => return verdict,
            }
        }
    }

    /// The next backtick that may end the inline code around the candidate.
    fn find_tick(&mut self, text: &str) -> usize {
        let Some(from) = self.quoted_up_to else { return text.len() };
        let tick = text[from..].find('`').map_or(text.len(), |found| from + found);
        self.quoted_up_to = Some(tick);
        tick
    }

    fn run(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        loop {
            let step = match self.reader.advance(&mut self.candidate, text, declared) {
                Break(Verdict::Text) => self.candidate.search_unknown_format(&*self.reader, text, declared),
                step => step,
            };
            match step {
                Continue(Some(reader)) => self.reader = reader,
                Continue(None) => {}
                Break(verdict) => return verdict,
            }
        }
    }

    /// Whether it is certainly intended as a call, and well-formed so far.
    fn is_certain(&self) -> bool {
        !self.candidate.is_bare() && self.reader.progress() >= Progress::Certain
    }

    /// Whether it would have become a call if `text` is cut at its end.
    pub(super) fn is_cut_call(&self, text: &str, declared: &DeclaredTools) -> bool {
        let is_call = !self.candidate.is_bare() || self.reader.names_declared(&self.candidate, text, declared);
        is_call && self.reader.progress() != Progress::Complete
    }

    pub(super) fn finish(&mut self, text: &str, declared: &DeclaredTools) -> Verdict {
        self.reader.finish(&mut self.candidate, text, declared)
    }
}
