use std::ops::Range;

use crate::fold::{FoldedText, fold, is_invisible};
use crate::keywords;

/// A part of a line without placeholders, as it is and as the patterns read it.
pub(crate) struct Line<'a> {
    text: &'a str,
    /// The name of the field whose value begins here, with a colon.
    name: &'a str,
    pub(crate) folded: FoldedText<'a>,
}

impl<'a> Line<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str, reads_numerals: bool) -> Self {
        Self { text, name, folded: FoldedText::new(text, reads_numerals) }
    }

    /// The part before a position of the folded text.
    fn before(&self, at: usize) -> &'a str {
        self.text.get(..self.folded.source(&(at..at)).start).unwrap_or_default()
    }

    /// Whether one of the keywords precedes a position, separated only by connectives and marks.
    pub(crate) fn is_after(&self, at: usize, keywords: &[&str]) -> bool {
        // No keyword contains a digit, and another number is before most numbers.
        let before = self.folded.bytes.get(..at).unwrap_or_default().iter().rev();
        let mut before =
            before.take(keywords::MAX_DISTANCE_CHARS).skip_while(|byte| keywords::is_mark(char::from(**byte)));
        !before.next().is_some_and(u8::is_ascii_digit) && keywords::end(&self.tail(at), keywords)
    }

    /// The visible characters before a position, folded, in lower case, with a space before a capital inside a name:
    /// `userPhone` becomes `user phone`, `iPhone` stays one keyword. A digit ends them.
    fn tail(&self, at: usize) -> String {
        #[cfg(test)]
        crate::tests::count_work(keywords::MAX_DISTANCE_CHARS);
        let before = self.before(at).chars().rev().chain(self.name.chars().rev());
        let before = before.filter(|c| matches!(c, ' '..='~') || !is_invisible(*c)).map(fold);
        let mut last: Vec<char> = Vec::with_capacity(keywords::MAX_DISTANCE_CHARS);
        for c in before.take(keywords::MAX_DISTANCE_CHARS) {
            last.push(c);
            if c.is_ascii_digit() {
                break;
            }
        }
        let mut tail = String::with_capacity(3 * last.len());
        let mut lowercase_run = 0;
        for c in last.into_iter().rev() {
            if lowercase_run > 1 && c.is_ascii_uppercase() {
                tail.push(' ');
            }
            lowercase_run = if c.is_ascii_lowercase() { lowercase_run + 1 } else { 0 };
            tail.push(c.to_ascii_lowercase());
        }
        tail
    }

    /// Whether a number is an amount of money or a percentage.
    pub(crate) fn is_amount(&self, number: &Range<usize>) -> bool {
        let before = self.before(number.start).trim_end();
        let after = self.text.get(self.folded.source(number).end..).unwrap_or_default().trim_start();
        before.ends_with(['$', '¥', '￥', '€', '£', '₩', '₹']) || keywords::is_unit(after)
    }
}
