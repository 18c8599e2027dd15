//! The scanner's state machine: ordinary text, one candidate at a time, and unconfirmed calls.

mod action;
mod attributes;
mod body;
mod candidate;
mod elements;
mod fence;
mod output;
mod parameter;
mod payload;
mod prose;
mod pythonic;
mod settle;
mod tag;
mod tail;

use conversation::ToolSpec;

use self::candidate::{Candidate, Verdict};
use self::output::Output;
use crate::code::Code;
use crate::declared::Declared;
use crate::piece::{Defect, End, Piece};

/// Finds calls in text that arrives in chunks; see the crate's documentation.
pub struct CallScanner {
    declared: Declared,
    actions: bool,
    /// The pushed text that is not settled; everything before `start` is settled.
    buffer: String,
    start: usize,
    state: State,
    code: Code,
    output: Output,
    /// Whether an opened wrapper has not been closed yet.
    unclosed: bool,
    /// Whether only white space and end markers follow the last call.
    behind_call: bool,
    /// No bracket before this buffer position begins a call: those were tried.
    bare_from: usize,
}

#[derive(Default)]
enum State {
    /// In ordinary text.
    #[default]
    Prose,
    /// In a candidate that begins at `start`.
    Open(Box<Candidate>),
    /// After calls in inline code: the next character decides whether the code ends here.
    Decided(Box<Candidate>, Verdict),
}

impl CallScanner {
    /// Creates a scanner for one reply; `tools` decides where the form alone is ambiguous.
    pub fn new(tools: &[ToolSpec]) -> Self {
        Self {
            declared: Declared::new(tools),
            actions: false,
            buffer: String::new(),
            start: 0,
            state: State::Prose,
            code: Code::default(),
            output: Output::default(),
            unclosed: false,
            behind_call: false,
            bare_from: 0,
        }
    }

    /// Also accepts `Action: f` with `Action Input: …` as a call; only for prompts that teach this form.
    #[must_use]
    pub fn with_actions(mut self) -> Self {
        self.actions = true;
        self
    }

    /// Takes more text and returns the segments that are certain by now.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.push_into(text, &mut pieces);
        pieces
    }

    /// Takes more text and appends the segments that are certain by now. Text is appended to a last text segment.
    pub fn push_into(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        self.buffer.push_str(text);
        while self.step(None, pieces) {}
        self.buffer.drain(..self.start);
        self.bare_from = self.bare_from.saturating_sub(self.start);
        self.start = 0;
    }

    /// Fast path for text that continues a line and starts nothing, as in typical deltas. On `true` the whole text is
    /// visible text and the caller emits it unchanged; on `false` nothing was consumed.
    pub fn passes(&mut self, text: &str) -> bool {
        let waits = !self.buffer.is_empty() || self.behind_call || self.output.waiting() || self.output.fresh();
        !waits && matches!(self.state, State::Prose) && self.code.goes_on(text)
    }

    /// Ends the reply: every byte still held becomes a call, text or a malformed call.
    pub fn finish(mut self, end: End) -> Vec<Piece> {
        let mut pieces = Vec::new();
        loop {
            while self.step(Some(end), &mut pieces) {}
            let State::Open(mut candidate) = std::mem::take(&mut self.state) else { break };
            if end == End::Cut && candidate.meant(&self.declared) && !candidate.complete() {
                self.malformed(self.buffer.len() - self.start, Defect::Cut, &mut pieces);
                break;
            }
            let verdict = candidate.finish(&self.buffer[self.start..], &self.declared);
            self.settle(&candidate, verdict, &mut pieces);
        }
        self.output.finish(&mut pieces);
        pieces
    }

    /// Performs one step; returns false if it needs more text.
    fn step(&mut self, end: Option<End>, pieces: &mut Vec<Piece>) -> bool {
        let (candidate, verdict) = match std::mem::take(&mut self.state) {
            State::Prose => return self.prose(end, pieces),
            State::Decided(candidate, verdict) => (candidate, verdict),
            State::Open(mut candidate) => {
                let verdict = candidate.advance(&self.buffer[self.start..], &self.declared);
                if verdict == Verdict::More {
                    self.state = State::Open(candidate);
                    return false;
                }
                (candidate, verdict)
            }
        };
        if self.code.in_line() && self.in_code(&verdict) && end.is_none() {
            self.state = State::Decided(candidate, verdict);
            return false;
        }
        self.settle(&candidate, verdict, pieces);
        true
    }

    /// Whether the calls end at the end of the buffer, so the next character is unknown.
    fn in_code(&self, verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Calls(_, length) if self.start + length == self.buffer.len())
    }
}
