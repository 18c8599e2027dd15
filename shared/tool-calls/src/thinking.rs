use crate::code::CodeTracker;
use crate::markers::{CLOSERS, Match, OPENERS};

/// A part of the raw model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyPart {
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
const MAX_NUMBER_BYTES: usize = 64;

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
    state: FilterState,
    answer: AnswerState,
    /// Whether white space at the current position is dropped.
    trim: bool,
}

#[derive(Default)]
enum FilterState {
    #[default]
    Answer,
    Reasoning {
        /// Whether the inner element may be nested in it.
        outer: bool,
        /// Whether a backtick directly precedes the current position.
        after_tick: bool,
    },
}

/// The state of the answer so far.
#[derive(Default)]
struct AnswerState {
    code: CodeTracker,
    has_text: bool,
    /// Whether the current position is in a call's wrapper.
    in_call: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ThinkingTag {
    opens: bool,
    inner: bool,
}

/// A match: a reasoning tag, or a call's marker that is text as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThinkingMatch {
    Tag(ThinkingTag),
    Marker,
}

impl ThinkingFilter {
    /// Takes more text and returns the parts that are certain by now.
    pub fn push(&mut self, text: &str) -> Vec<ReplyPart> {
        let mut parts = Vec::new();
        self.push_into(text, &mut parts);
        parts
    }

    /// Takes more text and appends the parts that are certain by now. Text is appended to a last part of its kind.
    pub fn push_into(&mut self, text: &str, parts: &mut Vec<ReplyPart>) {
        self.buffer.push_str(text);
        self.run(false, parts);
    }

    /// Fast path for text that continues a line of the answer and starts nothing, as in typical deltas. On `true` the
    /// whole text is answer text and the caller emits it unchanged; on `false` nothing was consumed.
    pub fn try_passthrough(&mut self, text: &str) -> bool {
        // White space is dropped only if no text precedes it on its line.
        self.buffer.is_empty() && matches!(self.state, FilterState::Answer) && self.answer.code.is_inert(text)
    }

    /// Ends the reply and returns the held parts.
    pub fn finish(mut self) -> Vec<ReplyPart> {
        let mut parts = Vec::new();
        self.run(true, &mut parts);
        parts
    }

    fn run(&mut self, ended: bool, parts: &mut Vec<ReplyPart>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while at < buffer.len() {
            let length = match self.match_at(&buffer[at..], ended) {
                Match::Full(ThinkingMatch::Tag(tag), length) => {
                    self.apply_tag(tag);
                    at += length;
                    continue;
                }
                Match::Full(ThinkingMatch::Marker, length) => length,
                Match::Partial => break,
                Match::None => 1 + plain_len(&buffer.as_bytes()[at + 1..]),
            };
            self.emit(&buffer[at..at + length], parts);
            at += length;
        }
        buffer.drain(..at);
        self.buffer = buffer;
    }

    fn match_at(&mut self, text: &str, ended: bool) -> Match<ThinkingMatch> {
        let matched = match self.state {
            _ if !text.starts_with(['<', '[']) => Match::None,
            FilterState::Answer => self.answer.match_in_answer(text),
            FilterState::Reasoning { after_tick: tick, .. } => match_in_reasoning(text, tick, ended),
        };
        if matched == Match::Partial && ended { Match::None } else { matched }
    }

    fn apply_tag(&mut self, tag: ThinkingTag) {
        match &mut self.state {
            // Opened again, or the inner element: still the same reasoning.
            FilterState::Reasoning { outer, after_tick: tick } if tag.opens || (tag.inner && *outer) => *tick = false,
            _ if tag.opens => {
                self.state = FilterState::Reasoning { outer: !tag.inner, after_tick: false };
                self.trim = true;
            }
            _ => {
                self.state = FilterState::Answer;
                self.trim = !self.answer.has_text;
            }
        }
    }

    fn emit(&mut self, text: &str, parts: &mut Vec<ReplyPart>) {
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        match &mut self.state {
            FilterState::Answer => {
                self.answer.has_text = true;
                self.answer.code.advance_text(text);
            }
            FilterState::Reasoning { after_tick: tick, .. } => *tick = text.ends_with('`'),
        }
        match (parts.last_mut(), &self.state) {
            (Some(ReplyPart::Text(last)), FilterState::Answer)
            | (Some(ReplyPart::Thinking(last)), FilterState::Reasoning { .. }) => {
                last.push_str(text);
            }
            (_, FilterState::Answer) => parts.push(ReplyPart::Text(text.to_owned())),
            (_, FilterState::Reasoning { .. }) => parts.push(ReplyPart::Thinking(text.to_owned())),
        }
    }
}

impl AnswerState {
    fn match_in_answer(&mut self, text: &str) -> Match<ThinkingMatch> {
        self.code.end_run(text.bytes().next());
        if self.code.is_in_inline_code() || self.code.fence().is_some() {
            return Match::None;
        }
        let markers = if self.in_call { &CLOSERS } else { &OPENERS };
        let marker = match markers.match_prefix(text) {
            Match::Full(_, length) => {
                self.in_call = !self.in_call;
                return Match::Full(ThinkingMatch::Marker, length);
            }
            Match::Partial => Match::Partial,
            Match::None => Match::None,
        };
        match match_tag(text) {
            _ if self.in_call => marker,
            Match::Full(tag, _) if tag.opens && self.code.is_json_line() => Match::None,
            Match::Full(tag, length) => Match::Full(ThinkingMatch::Tag(tag), length),
            Match::Partial => Match::Partial,
            Match::None => marker,
        }
    }
}

/// The number of bytes before the first one that may begin a tag or a marker.
fn plain_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| matches!(byte, b'<' | b'[')).unwrap_or(bytes.len())
}

fn match_in_reasoning(text: &str, after_tick: bool, ended: bool) -> Match<ThinkingMatch> {
    let (tag, length) = match match_tag(text) {
        Match::Full(tag, length) => (tag, length),
        Match::Partial => return Match::Partial,
        Match::None => return Match::None,
    };
    match text[length..].chars().next() {
        Some('`') if after_tick && !tag.opens => Match::None,
        None if after_tick && !tag.opens && !ended => Match::Partial,
        _ => Match::Full(ThinkingMatch::Tag(tag), length),
    }
}

/// Matches a tag at the beginning of the text.
fn match_tag(text: &str) -> Match<ThinkingTag> {
    let Some(rest) = text.strip_prefix('<') else { return Match::None };
    let rest_of_name = rest.strip_prefix('/').unwrap_or(rest);
    let opens = rest_of_name.len() == rest.len();
    let offset = text.len() - rest_of_name.len();
    match match_name(rest_of_name) {
        Match::Full(inner, length) => Match::Full(ThinkingTag { opens, inner }, offset + length),
        Match::Partial => Match::Partial,
        Match::None => Match::None,
    }
}

/// Matches the name of a reasoning element including `>`; returns whether it is the inner one.
fn match_name(text: &str) -> Match<bool> {
    let mut short = NUMBERED.starts_with(text);
    for element in ELEMENTS {
        match text.strip_prefix(element) {
            Some(rest) if rest.starts_with('>') => return Match::Full(element == INNER, element.len() + 1),
            Some("") => short = true,
            _ => short |= element.starts_with(text),
        }
    }
    let Some(number) = text.strip_prefix(NUMBERED) else { return if short { Match::Partial } else { Match::None } };
    let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
    match number[digits..].chars().next() {
        Some('>') if digits <= MAX_NUMBER_BYTES => Match::Full(false, NUMBERED.len() + digits + 1),
        None if digits <= MAX_NUMBER_BYTES => Match::Partial,
        _ => Match::None,
    }
}
