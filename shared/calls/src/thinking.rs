use crate::code::Code;
use crate::markers::{CLOSERS, Look, OPENERS};

/// A part of the raw model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Part of the answer (calls included).
    Text(String),
    /// Part of the reasoning, without its tags.
    Thinking(String),
}

/// Elements whose content is reasoning.
const ELEMENTS: [&str; 4] = ["think", "thinking", "seed:think", INNER];
/// The element that is nested in another one.
const INNER: &str = "seed:cot_budget_reflect";
/// An element of Doubao models, continued by digits that differ between models.
const NUMBERED: &str = "think_never_used_";
/// Maximum length of the number after [`NUMBERED`], in bytes.
const MAX_NUMBER: usize = 64;

/// Removes `<think>…</think>` and related elements from text that arrives in chunks.
///
/// An opening tag counts anywhere except in inline code, in a fence, in a call's wrapper, and on a line that begins
/// like JSON: there it is quoted. An end tag without an opening one is hidden; the text before it was already emitted
/// as text and stays text. Inside reasoning every end tag counts unless it has backticks on both sides. The filter
/// holds back only a possible prefix of a tag. It drops white space directly after an opening tag, and after an end tag
/// with no text before it; everything else is kept as written.
#[derive(Default)]
pub struct ThinkingFilter {
    buffer: String,
    place: Place,
    answer: Answer,
    /// Whether white space at the current position is dropped.
    trim: bool,
}

#[derive(Default)]
enum Place {
    #[default]
    Answer,
    Reasoning {
        /// Whether the inner element may be nested in it.
        outer: bool,
        /// Whether a backtick directly precedes the current position.
        tick: bool,
    },
}

/// The state of the answer so far.
#[derive(Default)]
struct Answer {
    code: Code,
    begun: bool,
    /// Whether the current position is in a call's wrapper.
    in_call: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    opens: bool,
    inner: bool,
}

/// A match: a reasoning tag, or a call's marker that is text as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Tag(Tag),
    Marker,
}

impl ThinkingFilter {
    /// Takes more text and returns the parts that are certain by now.
    pub fn push(&mut self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        self.push_into(text, &mut parts);
        parts
    }

    /// Takes more text and appends the parts that are certain by now. Text is appended to a last part of its kind.
    pub fn push_into(&mut self, text: &str, parts: &mut Vec<Part>) {
        self.buffer.push_str(text);
        self.run(false, parts);
    }

    /// Fast path for text that continues a line of the answer and starts nothing, as in typical deltas. On `true` the
    /// whole text is answer text and the caller emits it unchanged; on `false` nothing was consumed.
    pub fn passes(&mut self, text: &str) -> bool {
        // White space is dropped only if no text precedes it on its line.
        self.buffer.is_empty() && matches!(self.place, Place::Answer) && self.answer.code.goes_on(text)
    }

    /// Ends the reply and returns the held parts.
    pub fn finish(mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        self.run(true, &mut parts);
        parts
    }

    fn run(&mut self, ended: bool, parts: &mut Vec<Part>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while at < buffer.len() {
            let length = match self.look(&buffer[at..], ended) {
                Look::Is(Found::Tag(tag), length) => {
                    self.pass(tag);
                    at += length;
                    continue;
                }
                Look::Is(Found::Marker, length) => length,
                Look::Short => break,
                Look::No => 1 + plain(&buffer.as_bytes()[at + 1..]),
            };
            self.give(&buffer[at..at + length], parts);
            at += length;
        }
        buffer.drain(..at);
        self.buffer = buffer;
    }

    fn look(&mut self, text: &str, ended: bool) -> Look<Found> {
        let look = match self.place {
            _ if !text.starts_with(['<', '[']) => Look::No,
            Place::Answer => self.answer.look(text),
            Place::Reasoning { tick, .. } => look_in_reasoning(text, tick, ended),
        };
        if look == Look::Short && ended { Look::No } else { look }
    }

    fn pass(&mut self, tag: Tag) {
        match &mut self.place {
            // Opened again, or the inner element: still the same reasoning.
            Place::Reasoning { outer, tick } if tag.opens || (tag.inner && *outer) => *tick = false,
            _ if tag.opens => {
                self.place = Place::Reasoning { outer: !tag.inner, tick: false };
                self.trim = true;
            }
            _ => {
                self.place = Place::Answer;
                self.trim = !self.answer.begun;
            }
        }
    }

    fn give(&mut self, text: &str, parts: &mut Vec<Part>) {
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        match &mut self.place {
            Place::Answer => {
                self.answer.begun = true;
                self.answer.code.pass_text(text);
            }
            Place::Reasoning { tick, .. } => *tick = text.ends_with('`'),
        }
        match (parts.last_mut(), &self.place) {
            (Some(Part::Text(last)), Place::Answer) | (Some(Part::Thinking(last)), Place::Reasoning { .. }) => {
                last.push_str(text);
            }
            (_, Place::Answer) => parts.push(Part::Text(text.to_owned())),
            (_, Place::Reasoning { .. }) => parts.push(Part::Thinking(text.to_owned())),
        }
    }
}

impl Answer {
    fn look(&mut self, text: &str) -> Look<Found> {
        self.code.end_run(text.bytes().next());
        if self.code.in_line() || self.code.fence().is_some() {
            return Look::No;
        }
        let markers = if self.in_call { &CLOSERS } else { &OPENERS };
        let marker = match markers.look(text) {
            Look::Is(_, length) => {
                self.in_call = !self.in_call;
                return Look::Is(Found::Marker, length);
            }
            Look::Short => Look::Short,
            Look::No => Look::No,
        };
        match tag(text) {
            _ if self.in_call => marker,
            Look::Is(tag, _) if tag.opens && self.code.in_data() => Look::No,
            Look::Is(tag, length) => Look::Is(Found::Tag(tag), length),
            Look::Short => Look::Short,
            Look::No => marker,
        }
    }
}

/// The number of bytes before the first one that may begin a tag or a marker.
fn plain(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| matches!(byte, b'<' | b'[')).unwrap_or(bytes.len())
}

fn look_in_reasoning(text: &str, tick: bool, ended: bool) -> Look<Found> {
    let (tag, length) = match tag(text) {
        Look::Is(tag, length) => (tag, length),
        Look::Short => return Look::Short,
        Look::No => return Look::No,
    };
    match text[length..].chars().next() {
        Some('`') if tick && !tag.opens => Look::No,
        None if tick && !tag.opens && !ended => Look::Short,
        _ => Look::Is(Found::Tag(tag), length),
    }
}

/// Matches a tag at the beginning of the text.
fn tag(text: &str) -> Look<Tag> {
    let Some(rest) = text.strip_prefix('<') else { return Look::No };
    let rest_of_name = rest.strip_prefix('/').unwrap_or(rest);
    let opens = rest_of_name.len() == rest.len();
    let offset = text.len() - rest_of_name.len();
    match name(rest_of_name) {
        Look::Is(inner, length) => Look::Is(Tag { opens, inner }, offset + length),
        Look::Short => Look::Short,
        Look::No => Look::No,
    }
}

/// Matches the name of a reasoning element including `>`; returns whether it is the inner one.
fn name(text: &str) -> Look<bool> {
    let mut short = NUMBERED.starts_with(text);
    for element in ELEMENTS {
        match text.strip_prefix(element) {
            Some(rest) if rest.starts_with('>') => return Look::Is(element == INNER, element.len() + 1),
            Some("") => short = true,
            _ => short |= element.starts_with(text),
        }
    }
    let Some(number) = text.strip_prefix(NUMBERED) else { return if short { Look::Short } else { Look::No } };
    let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
    match number[digits..].chars().next() {
        Some('>') if digits <= MAX_NUMBER => Look::Is(false, NUMBERED.len() + digits + 1),
        None if digits <= MAX_NUMBER => Look::Short,
        _ => Look::No,
    }
}
