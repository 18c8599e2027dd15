//! The machine: ordinary text, one candidate at a time, and what waits to be confirmed.

mod action;
mod attributes;
mod body;
mod candidate;
mod elements;
mod fence;
mod output;
mod payload;
mod prose;
mod pythonic;

use conversation::ToolSpec;

use self::candidate::{Candidate, Kind, Stage, Verdict};
use self::output::Output;
use self::prose::{Around, Found};
use crate::code::Code;
use crate::declared::Declared;
use crate::markers::{CLOSERS, Look, OPENERS, Role};
use crate::piece::{Defect, End, Malformed, ParsedCall, Piece};

/// The shortest part of a marker that is not shown when the text ends in it, in bytes.
const MIN_HALF: usize = 6;

/// Finds calls in text that comes in pieces; see the crate's documentation.
pub struct CallScanner {
    declared: Declared,
    actions: bool,
    /// What was pushed and may still matter; everything before `start` is settled.
    buffer: String,
    start: usize,
    state: State,
    code: Code,
    output: Output,
    /// Whether a wrapper was opened whose end has not been seen.
    unclosed: bool,
    /// Whether only white space and end markers follow the last call.
    behind_call: bool,
    /// Before this position of the buffer no bracket begins a call: it was tried.
    bare_from: usize,
}

#[derive(Default)]
enum State {
    /// In ordinary text.
    #[default]
    Prose,
    /// In what may be a call; it begins at `start`.
    Open(Box<Candidate>),
    /// Behind calls in inline code: the next character tells whether the code ends here.
    Decided(Box<Candidate>, Verdict),
}

impl CallScanner {
    /// A scanner for one reply; `tools` decides what counts where the form alone is ambiguous.
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

    /// The same, which also takes `Action: f` with `Action Input: …` for a call: only for prompts that ask for it.
    #[must_use]
    pub fn with_actions(mut self) -> Self {
        self.actions = true;
        self
    }

    /// Takes more text and gives what is certain by now.
    pub fn push(&mut self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.push_into(text, &mut pieces);
        pieces
    }

    /// Takes more text and appends what is certain by now; text joins a last piece that is text.
    pub fn push_into(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        self.buffer.push_str(text);
        while self.step(None, pieces) {}
        self.buffer.drain(..self.start);
        self.bare_from = self.bare_from.saturating_sub(self.start);
        self.start = 0;
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

    /// Does one thing; false when there must be more text first.
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

    /// Whether what follows the calls is not known.
    fn in_code(&self, verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Calls(_, length) if self.start + length == self.buffer.len())
    }

    fn prose(&mut self, end: Option<End>, pieces: &mut Vec<Piece>) -> bool {
        let around = Around {
            tools: !self.declared.is_empty(),
            actions: self.actions,
            waiting: self.output.waiting(),
            fresh: self.output.fresh(),
            residue: self.behind_call || self.unclosed,
            bare_from: self.bare_from.saturating_sub(self.start),
            ended: end.is_some(),
        };
        let (length, found) = prose::scan(&mut self.code, &self.buffer[self.start..], around);
        self.show(length, pieces);
        match found {
            Found::Nothing => return false,
            Found::Text => {}
            Found::Opener(role, length) => {
                let marker = &self.buffer[self.start..self.start + length];
                self.open(Candidate::opened(role, marker, self.unclosed));
            }
            Found::Functools(length) => {
                let marker = &self.buffer[self.start..self.start + length];
                self.open(Candidate::opened(Role::Wrapper, marker, false));
            }
            Found::Bracket => {
                let list = self.output.fresh() && self.buffer[self.start..].starts_with('[');
                self.open(Candidate::new(if list { Kind::List } else { Kind::Json }, Stage::Payload, 0));
            }
            Found::Action(length) => self.open(Candidate::new(Kind::Action, Stage::Action, length)),
            Found::Closer(role, length) => {
                self.residue(length, pieces);
                self.unclosed &= role != Role::Close;
            }
            Found::Fence(ticks, length) => {
                self.code.enter_fence(ticks);
                self.unconfirmed(length, Vec::new(), pieces);
            }
            Found::FenceEnd(length) => {
                self.code.leave_fence();
                self.unconfirmed(length, Vec::new(), pieces);
            }
            Found::Half(length) => self.half(length, end, pieces),
        }
        true
    }

    fn open(&mut self, candidate: Candidate) {
        self.state = State::Open(Box::new(candidate));
    }

    /// Shows text that was passed over.
    fn show(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        let text = &self.buffer[self.start..self.start + length];
        if !text.trim().is_empty() {
            self.behind_call = false;
        }
        self.output.text(text, pieces);
        self.start += length;
    }

    /// Shows what was taken for a call or part of one.
    fn release(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        self.code.pass_text(&self.buffer[self.start..self.start + length]);
        self.show(length, pieces);
    }

    fn unconfirmed(&mut self, length: usize, calls: Vec<ParsedCall>, pieces: &mut Vec<Piece>) {
        self.output.unconfirmed(&self.buffer[self.start..self.start + length], calls, pieces);
        self.start += length;
    }

    /// Hides what is left of a call.
    fn residue(&mut self, length: usize, pieces: &mut Vec<Piece>) {
        if self.output.waiting() {
            self.output.unconfirmed(&self.buffer[self.start..self.start + length], Vec::new(), pieces);
        } else if self.behind_call {
            self.output.drop_gap();
        }
        self.start += length;
        self.code.pass_hidden();
    }

    /// The text ends in part of a marker.
    fn half(&mut self, length: usize, end: Option<End>, pieces: &mut Vec<Piece>) {
        let rest = &self.buffer[self.start..self.start + length];
        let tag = rest.starts_with(['<', '[']) && length >= MIN_HALF;
        let opener = OPENERS.look(rest) == Look::Short;
        if !opener && CLOSERS.look(rest) == Look::Short || tag && rest.contains(['|', '｜', '‖']) {
            self.residue(length, pieces);
        } else if tag && opener && end == Some(End::Cut) {
            self.malformed(length, Defect::Cut, pieces);
        } else {
            self.release(length, pieces);
        }
    }

    fn settle(&mut self, candidate: &Candidate, verdict: Verdict, pieces: &mut Vec<Piece>) {
        match verdict {
            Verdict::Calls(calls, length) => self.calls(candidate, calls, length, pieces),
            Verdict::Unreadable(reason, length) => self.malformed(length, Defect::Unreadable(reason), pieces),
            Verdict::Residue if !self.code.fence().is_some() => self.residue(self.buffer.len() - self.start, pieces),
            Verdict::Text | Verdict::Residue | Verdict::More => {
                if candidate.bare() {
                    self.bare_from = self.start + candidate.at.max(1);
                }
                self.release(candidate.marker.max(1), pieces);
            }
        }
    }

    fn calls(&mut self, candidate: &Candidate, calls: Vec<ParsedCall>, length: usize, pieces: &mut Vec<Piece>) {
        let (raw, rest) = self.buffer[self.start..].split_at(length);
        let quoted = self.code.in_line() && rest.starts_with('`');
        let fenced = self.code.fence().is_some();
        if quoted || (fenced && !calls.iter().all(|call| self.declared.accepts(&call.name, &call.arguments))) {
            return self.release(length, pieces);
        }
        if self.behind_call && self.unclosed {
            self.output.drop_gap();
        }
        self.unclosed = !candidate.bare() && !ends_closed(raw);
        self.behind_call = true;
        self.code.pass_hidden();
        if fenced || candidate.kind == Kind::Json {
            self.output.unconfirmed(raw, calls, pieces);
        } else {
            self.output.calls(raw, calls, pieces);
        }
        self.start += length;
    }

    fn malformed(&mut self, length: usize, defect: Defect, pieces: &mut Vec<Piece>) {
        if self.code.fence().is_some() && defect != Defect::Cut {
            return self.release(length, pieces);
        }
        let raw = self.buffer[self.start..self.start + length].to_owned();
        self.unclosed = !ends_closed(&raw);
        self.behind_call = true;
        self.code.pass_hidden();
        self.output.malformed(Malformed { raw, defect }, pieces);
        self.start += length;
    }
}

/// Whether a call's text includes the end of its wrapper.
fn ends_closed(raw: &str) -> bool {
    let Some(at) = raw.rfind(['<', '[']) else { return false };
    CLOSERS.look(&raw[at..]) == Look::Is(Role::Close, raw.len() - at)
}
