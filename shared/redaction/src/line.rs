use std::ops::Range;

use crate::fold::{FoldedText, fold, is_invisible};
use crate::keywords;

/// A part of a line without placeholders, as it is and as the patterns read it.
pub(crate) struct Line<'a> {
    text: &'a str,
    /// The name of the field whose value begins here, with a colon.
    name: &'a str,
    pub(crate) folded: FoldedText,
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
    pub(crate) fn is_after(&self, at: usize, keywords: &str) -> bool {
        keywords::end(&self.tail(at), keywords)
    }

    /// The visible characters before a position, folded, in lower case, with a space before a capital inside a name:
    /// `userPhone` becomes `user phone`, `iPhone` stays one keyword.
    fn tail(&self, at: usize) -> String {
        #[cfg(test)]
        crate::tests::count_work(keywords::MAX_DISTANCE_CHARS);
        let before = self.before(at).chars().rev().chain(self.name.chars().rev());
        let mut last: Vec<char> = before.filter(|c| !is_invisible(*c)).take(keywords::MAX_DISTANCE_CHARS).collect();
        last.reverse();
        let mut tail = String::with_capacity(last.len());
        let mut lowercase_run = 0;
        for c in last.into_iter().map(fold) {
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
