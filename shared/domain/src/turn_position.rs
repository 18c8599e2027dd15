//! Positions in a turn: how much of it a client has received.
//!
//! A position counts what a turn has written, not how it was divided, so that every source of the turn can continue from it:
//! the events in memory, the stream log, and the stored answer, which has the text in one piece.

use std::borrow::Cow;

use crate::{AnswerDelta, Event, Note, ToolEvent};

const TITLE: usize = 1;
const USAGE: usize = 2;
const END: usize = 4;

/// How much of a turn a client has received; the default is nothing.
///
/// Its text form is `TOTAL.FIELDS`: everything counted together, then each count but that of the text as one digit with the
/// number of its digits, and these digits. It is a decimal number that grows with each frame, because pages that were loaded
/// before an upgrade compare ids as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnPosition {
    has_start: bool,
    /// The bytes of all text, also of text that became reasoning later.
    text: usize,
    /// The bytes of all reasoning.
    thinking: usize,
    calls: usize,
    /// How many of the first calls all have results.
    results: usize,
    /// The number of progress deltas.
    progress: usize,
    /// How often text became reasoning.
    reclassified: usize,
    /// Which of [`TITLE`], [`USAGE`] and [`END`] were received.
    closing: usize,
    /// The indices of the other calls with results, ascending.
    early_results: Vec<usize>,
    /// The number of frames, from an id of a release that counted them; all else is unknown then.
    frames: usize,
}

impl TurnPosition {
    /// Parses a position, or a number of frames from 1; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let position = match text.split_once('.') {
            Some((total, fields)) => Self::from_numbers(total.parse().ok()?, &parse_fields(fields)?)?,
            None => Self { frames: text.parse().ok().filter(|frames| *frames > 0)?, ..Self::default() },
        };
        let mut written = String::new();
        position.write(&mut written);
        (written == text).then_some(position)
    }

    fn from_numbers(total: usize, fields: &[usize]) -> Option<Self> {
        let field = |index: usize| fields.get(index).copied().unwrap_or_default();
        let mut position = Self {
            has_start: true,
            thinking: field(0),
            calls: field(1),
            results: field(2),
            progress: field(3),
            reclassified: field(4),
            closing: field(5),
            early_results: fields.get(6..).unwrap_or_default().to_vec(),
            ..Self::default()
        };
        position.text = total.checked_sub(position.total())?;
        Some(position)
    }

    /// Appends the position in its text form.
    pub fn write(&self, out: &mut String) {
        let mut digits = itoa::Buffer::new();
        if self.frames > 0 {
            return out.push_str(digits.format(self.frames));
        }
        out.push_str(digits.format(self.total()));
        out.push('.');
        let fields = [self.thinking, self.calls, self.results, self.progress, self.reclassified, self.closing];
        let is_last = |index: usize| self.early_results.is_empty() && fields[index..].iter().all(|field| *field == 0);
        for (index, field) in fields.iter().chain(&self.early_results).enumerate() {
            if index > 0 && index < fields.len() && is_last(index) {
                return;
            }
            let number = if *field == 0 { "" } else { digits.format(*field) };
            out.push_str(itoa::Buffer::new().format(number.len()));
            out.push_str(number);
        }
    }

    /// The number of frames that the client has received, if nothing else is known.
    pub fn frames(&self) -> Option<usize> {
        (self.frames > 0).then_some(self.frames)
    }

    /// The position of a client that has everything up to both positions: it may be ahead of the events that are known.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = Self {
            has_start: true,
            text: self.text.max(other.text),
            thinking: self.thinking.max(other.thinking),
            calls: self.calls.max(other.calls),
            results: self.results.max(other.results),
            progress: self.progress.max(other.progress),
            reclassified: self.reclassified.max(other.reclassified),
            closing: self.closing | other.closing,
            ..Self::default()
        };
        for call in self.early_results.iter().chain(&other.early_results) {
            union.add_result(*call);
        }
        union
    }

    /// Everything counted together, and the start.
    fn total(&self) -> usize {
        let results = self.results + self.early_results.len();
        let closing = [TITLE, USAGE, END].iter().filter(|event| self.closing & **event != 0).count();
        1 + self.text + self.thinking + self.calls + results + self.progress + self.reclassified + closing
    }

    fn has_result(&self, call: usize) -> bool {
        call < self.results || self.early_results.contains(&call)
    }

    fn add_result(&mut self, call: usize) {
        if self.has_result(call) {
            return;
        }
        self.early_results.insert(self.early_results.partition_point(|earlier| *earlier < call), call);
        while self.early_results.first() == Some(&self.results) {
            self.early_results.remove(0);
            self.results += 1;
        }
    }
}

/// The numbers of a position's fields; at most one for each byte.
fn parse_fields(text: &str) -> Option<Vec<usize>> {
    let (mut fields, mut rest) = (Vec::new(), text);
    while let Some(digits) = rest.chars().next() {
        let end = 1 + usize::try_from(digits.to_digit(10)?).ok()?;
        let number = rest.get(1..end)?;
        fields.push(if number.is_empty() { 0 } else { number.parse().ok()? });
        rest = &rest[end..];
    }
    Some(fields)
}

/// The position after the events of a turn so far, which start with its first.
#[derive(Clone, Debug, Default)]
pub struct PositionTracker {
    position: TurnPosition,
    calls: Vec<String>,
}

impl PositionTracker {
    /// The position after the last event.
    pub fn position(&self) -> &TurnPosition {
        &self.position
    }

    /// Adds the next event; returns what of it a client lacks that has received so much of the turn.
    pub fn advance<'a>(&mut self, event: &'a Event, received: &TurnPosition) -> Option<Cow<'a, Event>> {
        let at = &mut self.position;
        let is_missing = match event {
            Event::Delta(AnswerDelta::Text(delta)) => {
                let rest = missing_part(delta, &mut at.text, received.text)?;
                return Some(replace_delta(event, delta, rest, |delta| Event::Delta(AnswerDelta::Text(delta))));
            }
            Event::Delta(AnswerDelta::Thinking(delta)) => {
                let rest = missing_part(delta, &mut at.thinking, received.thinking)?;
                return Some(replace_delta(event, delta, rest, |delta| Event::Delta(AnswerDelta::Thinking(delta))));
            }
            Event::Started(_) => {
                at.has_start = true;
                !received.has_start
            }
            Event::Delta(AnswerDelta::Reclassified(_)) => count(&mut at.reclassified, received.reclassified),
            Event::Tool(ToolEvent::Call(call)) => {
                self.calls.push(call.id.clone());
                count(&mut at.calls, received.calls)
            }
            Event::Tool(ToolEvent::Progress(_)) => count(&mut at.progress, received.progress),
            Event::Tool(ToolEvent::Result(outcome)) => {
                self.calls.iter().position(|id| *id == outcome.id).is_none_or(|call| {
                    at.add_result(call);
                    !received.has_result(call)
                })
            }
            Event::Note(Note::Title(_)) => close(at, TITLE, received),
            Event::Note(Note::Usage(_)) => close(at, USAGE, received),
            Event::End(_) => close(at, END, received),
            // They have no frames.
            Event::Tool(ToolEvent::ClientCall(_)) | Event::Note(Note::ModelSwitched(_) | Note::EarlierSource(_)) => {
                true
            }
        };
        is_missing.then_some(Cow::Borrowed(event))
    }
}

/// Counts one more; whether the client has received fewer.
fn count(at: &mut usize, received: usize) -> bool {
    *at += 1;
    *at > received
}

/// Records a closing event; whether the client lacks it.
fn close(at: &mut TurnPosition, event: usize, received: &TurnPosition) -> bool {
    at.closing |= event;
    received.closing & event == 0
}

/// The part of a delta that follows what the client has received; `None` if that is nothing.
fn missing_part<'a>(delta: &'a str, at: &mut usize, received: usize) -> Option<&'a str> {
    let known = received.saturating_sub(*at);
    *at += delta.len();
    // Only an id that no server wrote ends within a character.
    if known == 0 { Some(delta) } else { delta.get(known..).filter(|rest| !rest.is_empty()) }
}

fn replace_delta<'a>(event: &'a Event, delta: &str, rest: &str, of: impl FnOnce(String) -> Event) -> Cow<'a, Event> {
    if rest.len() == delta.len() { Cow::Borrowed(event) } else { Cow::Owned(of(rest.to_owned())) }
}

#[cfg(test)]
mod tests;
