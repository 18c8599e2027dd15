//! The citations in an answer: numbers of sources in brackets, such as `[1]`, `[1, 2]`, `[1-3]`, `[[1]]`, `［1］` or `【1】`.
//!
//! These are no citations: code, formulas, links such as `[1](https://…)`, definitions such as `[1]: https://…`,
//! footnotes such as `[^1]`, and brackets directly after another bracket.

mod markup;
#[cfg(test)]
mod tests;

use markup::Markup;

/// Longest citation, in bytes; longer brackets are text.
const MAX_BYTES: usize = 80;

/// Maximum number of digits of a source.
const MAX_DIGITS: usize = 4;

/// Maximum number of sources in a range such as `[1-3]`.
const MAX_RANGE: usize = 50;

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerPart {
    /// Text without a citation.
    Text(String),
    /// A citation.
    Citation {
        /// As the model wrote it.
        raw: String,
        /// The numbers of the sources.
        numbers: Vec<usize>,
    },
}

/// Finds the citations in an answer that arrives in deltas; it holds back at most an unfinished citation.
#[derive(Clone, Debug, Default)]
pub struct CitationScanner {
    markup: Markup,
    candidate: Option<Candidate>,
    /// Whether a citation ended directly before the next character.
    follows_citation: bool,
    text: String,
}

/// An open bracket and what follows it.
#[derive(Clone, Debug)]
struct Candidate {
    raw: String,
    close: char,
    /// Whether it starts with two brackets.
    is_double: bool,
    starts_line: bool,
    /// Set once the closing bracket was read.
    numbers: Option<Vec<usize>>,
}

impl CitationScanner {
    /// Appends the parts of the next delta to `parts`; together they are the text, unchanged.
    pub fn push(&mut self, delta: &str, parts: &mut Vec<AnswerPart>) {
        if self.candidate.is_none() && self.markup.try_skip(delta) {
            self.follows_citation &= delta.is_empty();
            self.text.push_str(delta);
        } else {
            for character in delta.chars() {
                self.push_char(character, parts);
            }
        }
        self.flush_text(parts);
    }

    /// Advances over the next delta, whose parts are not needed.
    pub fn skip(&mut self, delta: &str) {
        if self.candidate.is_none() && self.markup.try_skip(delta) {
            self.follows_citation &= delta.is_empty();
        } else {
            self.push(delta, &mut Vec::new());
        }
    }

    /// Ends the text: appends what was held back.
    pub fn finish(&mut self, parts: &mut Vec<AnswerPart>) {
        match self.candidate.take() {
            Some(candidate) => self.close(candidate, None, parts),
            None => self.follows_citation = false,
        }
        self.flush_text(parts);
    }

    /// Forgets what is held back.
    pub fn discard(&mut self) {
        (self.candidate, self.follows_citation) = (None, false);
    }

    fn push_char(&mut self, character: char, parts: &mut Vec<AnswerPart>) {
        if let Some(mut candidate) = self.candidate.take() {
            if candidate.accept(character) {
                self.candidate = Some(candidate);
                return;
            }
            self.close(candidate, Some(character), parts);
        }
        let previous = self.markup.previous;
        let is_plain = self.markup.advance(character);
        if is_plain && self.may_open(character, previous) {
            let starts_line = self.markup.run_starts_line;
            self.candidate = Candidate::open(character, starts_line);
        } else {
            self.text.push(character);
        }
        self.follows_citation = false;
    }

    fn may_open(&self, character: char, previous: char) -> bool {
        match character {
            '[' if previous == ']' => self.follows_citation,
            '[' => previous != '\\',
            '［' | '【' => true,
            _ => false,
        }
    }

    /// Ends a candidate before the character `next`, or at the end of the text.
    fn close(&mut self, mut candidate: Candidate, next: Option<char>, parts: &mut Vec<AnswerPart>) {
        if candidate.is_double && !candidate.raw.ends_with("]]") {
            candidate.raw.remove(0);
            self.text.push('[');
        }
        let is_markdown = next == Some('(') || (next == Some(':') && candidate.starts_line);
        let numbers = candidate.numbers.filter(|_| !(is_markdown && candidate.close == ']'));
        self.markup.skip(&candidate.raw);
        let Some(numbers) = numbers else { return self.text.push_str(&candidate.raw) };
        self.flush_text(parts);
        parts.push(AnswerPart::Citation { raw: candidate.raw, numbers });
        self.follows_citation = true;
    }

    fn flush_text(&mut self, parts: &mut Vec<AnswerPart>) {
        if !self.text.is_empty() {
            parts.push(AnswerPart::Text(std::mem::take(&mut self.text)));
        }
    }
}

impl Candidate {
    fn open(bracket: char, starts_line: bool) -> Option<Self> {
        let close = match bracket {
            '[' => ']',
            '［' => '］',
            '【' => '】',
            _ => return None,
        };
        Some(Self { raw: bracket.to_string(), close, is_double: false, starts_line, numbers: None })
    }

    /// Whether the character belongs to the candidate.
    fn accept(&mut self, character: char) -> bool {
        let is_accepted = match character {
            '[' if self.raw == "[" => {
                self.is_double = true;
                true
            }
            ']' if self.is_double && self.numbers.is_some() => !self.raw.ends_with("]]"),
            _ if self.numbers.is_some() => false,
            _ if character == self.close => {
                self.numbers = parse_numbers(self.raw.trim_start_matches(['[', '［', '【']));
                self.numbers.is_some()
            }
            '0'..='9' | ',' | '，' | '、' | ' ' | '-' | '–' => self.raw.len() < MAX_BYTES,
            _ => false,
        };
        if is_accepted {
            self.raw.push(character);
        }
        is_accepted
    }
}

/// Parses numbers and ranges; `None` for any other text.
fn parse_numbers(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for member in text.split([',', '，', '、']) {
        match member.split_once(['-', '–']) {
            None => numbers.push(parse_number(member)?),
            Some((first, last)) => {
                let (first, last) = (parse_number(first)?, parse_number(last)?);
                let length = last.checked_sub(first)?;
                numbers.extend((length < MAX_RANGE).then_some(first..=last)?);
            }
        }
    }
    Some(numbers)
}

/// Parses a number of a source, from 1.
fn parse_number(text: &str) -> Option<usize> {
    let text = text.trim();
    let is_number = text.len() <= MAX_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && *number > 0)
}
