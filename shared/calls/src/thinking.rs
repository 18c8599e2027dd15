use crate::code::Code;
use crate::markers::{CLOSERS, Look, OPENERS};

/// A stretch of raw model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Part of the answer (calls included).
    Text(String),
    /// Part of the reasoning, without its tags.
    Thinking(String),
}

/// Elements whose content is reasoning.
const ELEMENTS: [&str; 4] = ["think", "thinking", "seed:think", "seed:cot_budget_reflect"];
/// An element of Doubao models, which goes on with digits that differ between models.
const NUMBERED: &str = "think_never_used_";
/// The longest number behind [`NUMBERED`], in bytes.
const MAX_NUMBER: usize = 64;
/// The element that stands inside of another one.
const INNER: &str = "seed:cot_budget_reflect";

/// Takes `<think>…</think>` and its kin out of text that comes in pieces.
///
/// An opening tag counts wherever it stands, except in inline code, in a fence, in a call's wrapper, and on a line that
/// begins like JSON: there it is quoted. An end tag without an opening one is hidden, but what stood before it was
/// already given as text and stays text. Inside reasoning every end tag counts unless backticks stand on both sides.
/// Held back is at most what may become a tag. White space right behind an opening tag, and behind an end tag with no
/// text before it, is dropped; everything else is kept as written.
#[derive(Default)]
pub struct ThinkingFilter {
    buffer: String,
    thinking: bool,
    /// Whether the open element may hold the inner one.
    outer: bool,
    code: Code,
    /// Whether the place is in the wrapper of a call.
    in_call: bool,
    /// Whether the line began like JSON.
    data_line: bool,
    /// Whether some text was given.
    begun: bool,
    /// Whether white space at the place is dropped.
    trim: bool,
    /// Whether a backtick stands right before the place, inside reasoning.
    tick: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tag {
    opens: bool,
    inner: bool,
}

impl ThinkingFilter {
    /// Takes more text and gives what is certain by now.
    pub fn push(&mut self, text: &str) -> Vec<Part> {
        self.buffer.push_str(text);
        self.run(false)
    }

    /// Ends the reply and gives what was held.
    pub fn finish(mut self) -> Vec<Part> {
        self.run(true)
    }

    fn run(&mut self, ended: bool) -> Vec<Part> {
        let buffer = std::mem::take(&mut self.buffer);
        let mut parts = Vec::new();
        let mut at = 0;
        while at < buffer.len() {
            let stop = self.plain(&buffer[at..]);
            self.give(&buffer[at..at + stop], &mut parts);
            at += stop;
            if at == buffer.len() {
                break;
            }
            match self.at_tag(&buffer[at..], ended) {
                Look::Is(Some(tag), length) => {
                    self.pass_tag(tag);
                    at += length;
                }
                Look::Is(None, length) => {
                    self.give(&buffer[at..at + length], &mut parts);
                    at += length;
                }
                Look::Short => break,
                Look::No => {
                    self.give(&buffer[at..=at], &mut parts);
                    at += 1;
                }
            }
        }
        self.buffer.push_str(&buffer[at..]);
        parts
    }

    /// How much of the text has no tag in it.
    fn plain(&self, text: &str) -> usize {
        let special = if self.thinking { &['<'][..] } else { &['<', '['][..] };
        text.find(special).unwrap_or(text.len())
    }

    /// What stands at a place: a tag of ours, or a stretch (a call's marker) that is text as a whole.
    fn at_tag(&mut self, text: &str, ended: bool) -> Look<Option<Tag>> {
        let look = if self.thinking { self.end_of_thinking(text, ended) } else { self.tag_in_text(text) };
        if look == Look::Short && ended { Look::No } else { look }
    }

    fn end_of_thinking(&self, text: &str, ended: bool) -> Look<Option<Tag>> {
        let Look::Is(tag, length) = tag(text) else { return tag(text).map_none() };
        match text[length..].chars().next() {
            _ if tag.opens || !self.tick => Look::Is(Some(tag), length),
            None if !ended => Look::Short,
            Some('`') => Look::No,
            _ => Look::Is(Some(tag), length),
        }
    }

    fn tag_in_text(&mut self, text: &str) -> Look<Option<Tag>> {
        self.code.end_run(text.bytes().next());
        if self.code.in_line() || self.code.fence().is_some() {
            return Look::No;
        }
        let markers = if self.in_call { &CLOSERS } else { &OPENERS };
        let marker = match markers.look(text) {
            Look::Is(_, length) => {
                self.in_call = !self.in_call;
                return Look::Is(None, length);
            }
            Look::Short => Look::Short,
            Look::No => Look::No,
        };
        match tag(text) {
            _ if self.in_call => marker,
            Look::Is(tag, _) if tag.opens && self.data_line => Look::No,
            Look::Is(tag, length) => Look::Is(Some(tag), length),
            Look::Short => Look::Short,
            Look::No => marker,
        }
    }

    fn pass_tag(&mut self, tag: Tag) {
        self.tick = false;
        if self.thinking && (tag.opens || (tag.inner && self.outer)) {
            return;
        }
        self.outer = tag.opens && !tag.inner;
        self.thinking = tag.opens;
        self.trim = tag.opens || !self.begun;
    }

    fn give(&mut self, text: &str, parts: &mut Vec<Part>) {
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        if self.thinking {
            self.tick = text.ends_with('`');
        } else {
            self.begun = true;
            self.follow(text);
        }
        match (parts.last_mut(), self.thinking) {
            (Some(Part::Text(last)), false) | (Some(Part::Thinking(last)), true) => last.push_str(text),
            (_, false) => parts.push(Part::Text(text.to_owned())),
            (_, true) => parts.push(Part::Thinking(text.to_owned())),
        }
    }

    /// Keeps track of code and of lines that look like JSON.
    fn follow(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.code.line_start() && !byte.is_ascii_whitespace() {
                self.data_line = matches!(byte, b'{' | b'[' | b'"');
            }
            self.code.pass(byte);
        }
    }
}

impl Look<Tag> {
    fn map_none(self) -> Look<Option<Tag>> {
        match self {
            Self::Is(tag, length) => Look::Is(Some(tag), length),
            Self::No => Look::No,
            Self::Short => Look::Short,
        }
    }
}

/// The tag with which the text begins.
fn tag(text: &str) -> Look<Tag> {
    let Some(rest) = text.strip_prefix('<') else { return if text.is_empty() { Look::Short } else { Look::No } };
    let rest_of_name = rest.strip_prefix('/').unwrap_or(rest);
    let opens = rest_of_name.len() == rest.len();
    let offset = text.len() - rest_of_name.len();
    match name(rest_of_name) {
        Look::Is(inner, length) => Look::Is(Tag { opens, inner }, offset + length),
        Look::Short => Look::Short,
        Look::No => Look::No,
    }
}

/// The name of an element of ours up to and with `>`; tells whether it is the inner one.
fn name(text: &str) -> Look<bool> {
    let mut short = false;
    for element in ELEMENTS {
        match text.strip_prefix(element) {
            Some(rest) if rest.starts_with('>') => return Look::Is(element == INNER, element.len() + 1),
            Some("") => short = true,
            _ => short |= element.starts_with(text),
        }
    }
    if let Some(number) = text.strip_prefix(NUMBERED) {
        let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
        return match number[digits..].chars().next() {
            Some('>') if digits <= MAX_NUMBER => Look::Is(false, NUMBERED.len() + digits + 1),
            None if digits <= MAX_NUMBER => Look::Short,
            _ => Look::No,
        };
    }
    if short || NUMBERED.starts_with(text) { Look::Short } else { Look::No }
}
