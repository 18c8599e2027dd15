//! The scanner's state machine: ordinary text, one candidate at a time, and unconfirmed calls.

mod attributes;
mod candidate;
mod fence;
pub(crate) mod name;
mod open_candidate;
mod output;
pub(crate) mod prose;
mod readers;
mod recent_text;
mod residue;
mod settle;
mod space;
mod tool_tag;

use std::ops::Range;
use std::sync::Arc;

use domain::ToolSpec;

use self::candidate::Verdict;
use self::open_candidate::OpenCandidate;
use self::output::Output;
pub(crate) use self::readers::action::INPUT as ACTION_INPUT;
use self::recent_text::RecentText;
use crate::code::CodeTracker;
use crate::declared_tools::DeclaredTools;
use crate::result_block::ResultBlock;
use crate::segment::{MalformedReason, ReplyEnd, ResultBlocks, Segment};

/// Number of bytes that candidates may read which only the end of a reply decides, after the first few of them. Each reads up to
/// that end, because only it shows that nothing closes them; a reply with more is no prose (R13).
const MAX_UNDECIDED_BYTES: usize = 1024 * 1024;
/// Number of such candidates that are always read.
const MIN_UNDECIDED: usize = 4;

/// Finds calls in text that arrives in chunks; see the crate's documentation.
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
#[derive(Default)]
pub struct CallScanner {
    declared: Arc<DeclaredTools>,
    allow_actions: bool,
    result_blocks: ResultBlocks,
    /// Whether the reply may begin with a recipient, and nothing of it was read.
    is_first: bool,
    /// The pushed text that is not settled; everything before `start` is settled.
    buffer: String,
    start: usize,
    state: ScannerState,
    code: CodeTracker,
    output: Output,
    recent: RecentText,
    /// Whether an opened wrapper has not been closed yet.
    unclosed: bool,
    /// Whether only white space and end markers follow the last call.
    after_call: bool,
    /// No bracket before this buffer position begins a call: those were tried.
    bare_from: usize,
    /// No imitated result before this buffer position begins within its line.
    results_from: usize,
    /// No end of a wrapper begins at these buffer positions: they were searched.
    without_end: Range<usize>,
}

#[derive(Default)]
enum ScannerState {
    #[default]
    Prose,
    /// In a candidate that begins at `start`.
    Open(Box<OpenCandidate>),
    /// After calls in inline code: the next character decides whether the code ends here.
    AwaitingNext(Box<OpenCandidate>, Verdict),
    /// In a block that imitates a result and is hidden.
    InResult { block: ResultBlock, begins_line: bool },
    /// After the beginning of a made-up result: everything that follows is dropped.
    Ended,
}

impl CallScanner {
    /// Creates a scanner for one reply; `tools` decides where the form alone is ambiguous.
    pub fn new(tools: &[ToolSpec]) -> Self {
        Self::with_declared(Arc::new(DeclaredTools::new(tools)))
    }

    /// Creates a scanner for the tools of another one.
    pub(crate) fn with_declared(declared: Arc<DeclaredTools>) -> Self {
        Self { declared, ..Self::default() }
    }

    pub(crate) fn unsettled_len(&self) -> usize {
        self.buffer.len() - self.start
    }

    pub(crate) fn declared_tools(&self) -> Arc<DeclaredTools> {
        Arc::clone(&self.declared)
    }

    /// Drops what is held and begins again; returns the text that was held.
    pub fn restart(&mut self) -> String {
        let begun = Self {
            allow_actions: self.allow_actions,
            result_blocks: self.result_blocks,
            ..Self::with_declared(Arc::clone(&self.declared))
        };
        let segments = std::mem::replace(self, begun).finish(ReplyEnd::Complete);
        let texts = segments.into_iter().filter_map(|segment| match segment {
            Segment::Text(text) => Some(text),
            Segment::Malformed(malformed) => Some(malformed.raw),
            Segment::Call(_) | Segment::Invention => None,
        });
        texts.collect()
    }

    /// Also accepts `Action: f` with `Action Input: …` as a call, and a reply that begins with a recipient, as
    /// Functionary's do; only for models that write their calls as text.
    #[must_use]
    pub fn with_actions(mut self) -> Self {
        self.allow_actions = true;
        self.is_first = !self.declared.is_empty();
        self
    }

    /// Sets what becomes of blocks that imitate a tool's result; by default they are text. In code they always are.
    #[must_use]
    pub fn with_result_blocks(mut self, result_blocks: ResultBlocks) -> Self {
        self.result_blocks = result_blocks;
        self
    }

    /// Takes more text and returns the segments that are certain by now.
    pub fn push(&mut self, text: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        self.push_into(text, &mut segments);
        segments
    }

    /// Takes more text and appends the segments that are certain by now. Text is appended to a last text segment.
    pub fn push_into(&mut self, text: &str, segments: &mut Vec<Segment>) {
        self.buffer.push_str(text);
        std::mem::swap(segments, &mut self.output.segments);
        while self.step(None) {}
        std::mem::swap(segments, &mut self.output.segments);
        let settled = std::mem::take(&mut self.start);
        if settled == 0 {
            return;
        }
        if settled == self.buffer.len() {
            self.buffer.clear();
        } else {
            self.buffer.drain(..settled);
        }
        let moved = |position: usize| position.saturating_sub(settled);
        (self.bare_from, self.results_from) = (moved(self.bare_from), moved(self.results_from));
        self.without_end = moved(self.without_end.start)..moved(self.without_end.end);
    }

    /// Fast path for text that continues a line and starts nothing, as in typical deltas. On `true` the whole text is
    /// visible text and the caller emits it unchanged; on `false` nothing was consumed.
    pub fn try_passthrough(&mut self, text: &str) -> bool {
        let waits =
            !self.buffer.is_empty() || self.after_call || self.output.has_unconfirmed() || !self.output.text_shown;
        let has_tools = !self.declared.is_empty();
        let passes = !waits
            && matches!(self.state, ScannerState::Prose)
            && self.code.is_inert(text)
            && !(has_tools && self.code.fence().is_none() && text.contains('{'));
        if passes {
            self.recent.push(text);
        }
        passes
    }

    /// Whether a whole text has a call of a declared tool.
    pub fn finds_call(mut self, text: &str) -> bool {
        let (mut segments, declared) = (self.push(text), self.declared_tools());
        segments.extend(self.finish(ReplyEnd::Complete));
        segments.iter().any(|segment| matches!(segment, Segment::Call(call) if declared.has(&call.name)))
    }

    /// Ends the reply: every byte still held becomes a call, text or a malformed call.
    pub fn finish(mut self, end: ReplyEnd) -> Vec<Segment> {
        let mut undecided_bytes = 0;
        for number in 0.. {
            while self.step(Some(end)) {}
            let ScannerState::Open(mut open) = std::mem::take(&mut self.state) else { break };
            undecided_bytes += self.buffer.len() - self.start;
            if number >= MIN_UNDECIDED && undecided_bytes > MAX_UNDECIDED_BYTES {
                self.emit_malformed(self.buffer.len() - self.start, MalformedReason::TooLong);
                break;
            }
            let text = &self.buffer[self.start..];
            if end == ReplyEnd::Truncated && open.is_cut_call(text, &self.declared) {
                self.emit_malformed(self.buffer.len() - self.start, MalformedReason::Truncated);
                break;
            }
            open.check_example(|| self.recent.introduces_example());
            let verdict = open.finish(text, &self.declared);
            self.settle(&open.candidate, verdict);
        }
        self.output.finish();
        self.output.segments
    }

    /// Performs one step; returns false if it needs more text.
    #[inline]
    fn step(&mut self, end: Option<ReplyEnd>) -> bool {
        // Most steps: the state is not moved.
        if matches!(self.state, ScannerState::Prose) {
            return self.advance_prose(end);
        }
        let (open, verdict) = match std::mem::take(&mut self.state) {
            ScannerState::Prose => return true,
            ScannerState::InResult { block, begins_line } => {
                return self.advance_result_block(block, begins_line, end.is_some());
            }
            ScannerState::Ended => {
                (self.start, self.state) = (self.buffer.len(), ScannerState::Ended);
                return false;
            }
            ScannerState::AwaitingNext(open, verdict) => (open, verdict),
            ScannerState::Open(mut open) => {
                let verdict = open.advance(&self.buffer[self.start..], &self.declared);
                if matches!(verdict, Verdict::NeedMore) {
                    self.state = ScannerState::Open(open);
                    return false;
                }
                (open, verdict)
            }
        };
        // At the end of the buffer the next character is unknown.
        let reaches_end = matches!(verdict, Verdict::Calls(_, length) if self.start + length == self.buffer.len());
        if self.code.is_in_inline_code() && reaches_end && end.is_none() {
            self.state = ScannerState::AwaitingNext(open, verdict);
            return false;
        }
        self.settle(&open.candidate, verdict);
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unreadable_content_is_searched_once() {
        let parameters = json!({ "type": "object", "properties": {} });
        let spec = ToolSpec { name: "f".to_owned(), description: String::new(), parameters, examples: Vec::new() };
        let mut scanner = CallScanner::new(std::slice::from_ref(&spec));
        let malformed = |segments: &[Segment]| segments.iter().filter(|it| matches!(it, Segment::Malformed(_))).count();
        let begun = malformed(&scanner.push(&"<tool_call>[f(}]".repeat(1_000)));
        let known = scanner.without_end.clone();
        assert!(begun > 0 && known.start == 0 && known.end > 4_000, "{begun}, {known:?}");
        scanner.push("</tool_call>");
        assert_eq!(scanner.unsettled_len(), 0, "the end is found all the same");
        let mut scanner = CallScanner::new(&[spec]);
        for _ in 0..1_000 {
            scanner.push("<tool_call>[f(");
            scanner.push("}]");
        }
        let known = scanner.without_end.clone();
        assert!(known.start == 0 && known.end > 4_000, "in chunks, {known:?}");
    }
}
