//! Calls in reasoning that has no end: the model forgot to close it.

use std::sync::Arc;

use super::reasoning::{match_in_reasoning, plain_len};
use super::{FilterState, ThinkingFilter};
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;
use crate::scanner::CallScanner;
use crate::segment::{ReplyEnd, Segment};

/// Maximum number of wrappers in reasoning that are read as possible calls.
const MAX_CANDIDATES: usize = 64;

/// Finds calls that end a reply inside of unclosed reasoning.
///
/// A wrapper in reasoning is held with all that follows it. If the reasoning ends, it was quoted; if other text follows
/// the calls, it was too. If the reply ends there, it holds calls.
#[derive(Default)]
pub(super) struct HiddenCalls {
    declared: Arc<DeclaredTools>,
    candidates: usize,
    pub(super) open: Option<OpenCalls>,
}

/// A wrapper with the text after it.
pub(super) struct OpenCalls {
    scanner: CallScanner,
    marker_len: usize,
    /// How many bytes from the opening marker on were read.
    read: usize,
    has_call: bool,
    /// What precedes this position is calls and the white space between them: nothing in it opens another one.
    settled: usize,
}

impl HiddenCalls {
    pub(super) fn new(declared: Arc<DeclaredTools>) -> Self {
        Self { declared, ..Self::default() }
    }

    /// Whether calls are sought: there are tools, and few wrappers were quotations so far.
    pub(super) fn is_enabled(&self) -> bool {
        !self.declared.is_empty() && self.candidates < MAX_CANDIDATES
    }

    pub(super) fn open(&mut self, marker_len: usize) {
        self.candidates += 1;
        let scanner = CallScanner::with_declared(Arc::clone(&self.declared));
        self.open = Some(OpenCalls { scanner, marker_len, read: 0, has_call: false, settled: 0 });
    }

    /// Reads up to this position. If this is no call, returns the length of what is text: the opening marker, or the calls before
    /// the text that shows that they were quoted.
    pub(super) fn read(&mut self, text: &str, up_to: usize) -> Option<usize> {
        let open = self.open.as_mut()?;
        let segments = open.scanner.push(&text[open.read..up_to]);
        let from = std::mem::replace(&mut open.read, up_to);
        open.has_call |= segments.iter().any(is_call);
        if segments.iter().all(is_of_calls) {
            open.settled = up_to - open.scanner.unsettled_len();
            return None;
        }
        open.settled = settled_before_text(&self.declared, &text[..up_to], from, open.settled);
        self.close()
    }

    /// Gives up the wrapper; returns the length of its marker.
    pub(super) fn close(&mut self) -> Option<usize> {
        self.open.take().map(|open| open.marker_len.max(open.settled))
    }

    /// Ends the text: at the end of the reply it is the answer if it is nothing but calls.
    fn finish(&mut self, ended: bool) -> HiddenStep {
        let Some(open) = self.open.take_if(|_| ended) else { return HiddenStep::NeedMore };
        let segments = open.scanner.finish(ReplyEnd::Complete);
        let has_call = open.has_call || segments.iter().any(is_call);
        if has_call && segments.iter().all(is_of_calls) {
            return HiddenStep::Answer;
        }
        HiddenStep::Thinking(open.marker_len.max(open.settled))
    }
}

impl ThinkingFilter {
    /// Reads a wrapper in reasoning and the text after it.
    pub(super) fn read_hidden_call(&mut self, text: &str, ended: bool) -> HiddenStep {
        let FilterState::Reasoning { opened_by, .. } = self.state else { return HiddenStep::Answer };
        loop {
            let at = self.calls.open.as_ref().map_or(0, |open| open.read);
            if at == text.len() {
                return self.calls.finish(ended);
            }
            match match_in_reasoning(&text[at..], opened_by, text[..at].ends_with('`'), false, ended) {
                Match::Full(matched, _) if matched.ends_reasoning(opened_by) => {
                    self.calls.close();
                    return HiddenStep::Thinking(at);
                }
                Match::Partial if !ended => return HiddenStep::NeedMore,
                _ => {}
            }
            let next = at + 1 + plain_len(&text.as_bytes()[at + 1..]);
            if let Some(marker_len) = self.calls.read(text, next) {
                return HiddenStep::Thinking(marker_len);
            }
        }
    }
}

pub(super) enum HiddenStep {
    NeedMore,
    /// So many bytes are reasoning.
    Thinking(usize),
    /// The rest of the reply is the answer.
    Answer,
}

fn is_call(segment: &Segment) -> bool {
    matches!(segment, Segment::Call(_) | Segment::Malformed(_))
}

/// Whether a segment is a call, or white space next to calls.
fn is_of_calls(segment: &Segment) -> bool {
    is_call(segment) || matches!(segment, Segment::Text(text) if text.trim().is_empty())
}

/// Returns the position up to which calls precede the text that follows them in `text[from..]`.
///
/// It reads that part once more by characters, because the call and the text may have arrived together or apart.
fn settled_before_text(declared: &Arc<DeclaredTools>, text: &str, from: usize, mut settled: usize) -> usize {
    let mut scanner = CallScanner::with_declared(Arc::clone(declared));
    scanner.push(&text[..from]);
    for (at, character) in text[from..].char_indices() {
        let end = from + at + character.len_utf8();
        if !scanner.push(&text[from + at..end]).iter().all(is_of_calls) {
            break;
        }
        settled = end - scanner.unsettled_len();
    }
    settled
}
