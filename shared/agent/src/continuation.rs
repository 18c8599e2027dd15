//! Joins the texts of two models after a failover. Models often repeat the last sentence, or the whole answer from its
//! start, before they continue.

mod candidate;

use self::candidate::{Boundary, Candidate};

/// Maximum distance of a repetition's start from the end of the previous text, in bytes. The start of the whole text is
/// always considered.
const MAX_DISTANCE_BYTES: usize = 4096;

/// Removes a repetition of the previous text from the beginning of a stream of text.
///
/// Text is held back only while it may still be a repetition. A repetition must reach the end of the previous text, and be
/// too long to be new text, or start where new text would not (`candidate`). The longest one wins. Whitespace before it is
/// removed too, as is text after it that the previous text already ends with. All other text passes unchanged, independent
/// of chunking.
pub(crate) struct ContinuationTrimmer {
    previous: String,
    /// Where the whitespace at the end of `previous` starts.
    end: usize,
    held: String,
    /// Length of the leading whitespace in `held`.
    whitespace: usize,
    /// Candidates that agree with all of `held`, the longest first.
    candidates: Vec<Candidate>,
    /// The longest certain repetition: its position in `previous`, and its length in `held`.
    found: Option<(usize, usize)>,
    is_done: bool,
}

impl ContinuationTrimmer {
    pub(crate) fn new(previous: &str) -> Self {
        let end = previous.trim_end().len();
        Self {
            previous: previous.to_owned(),
            end,
            held: String::new(),
            whitespace: 0,
            candidates: candidate::find_all(&previous[..end], MAX_DISTANCE_BYTES),
            found: None,
            is_done: end == 0,
        }
    }

    /// Adds text; returns the text that is certainly no repetition.
    pub(crate) fn push(&mut self, text: impl Into<String>) -> String {
        let text = text.into();
        if self.is_done {
            return text;
        }
        let mut from = self.held.len();
        self.held.push_str(&text);
        if from == self.whitespace {
            self.whitespace = self.held.len() - self.held.trim_start().len();
            from = self.whitespace;
        }
        self.compare(from);
        self.release()
    }

    /// Ends the text; returns the rest of what was held.
    ///
    /// A text that started again and ended before anything new is dropped.
    pub(crate) fn finish(&mut self) -> String {
        if self.is_done {
            return String::new();
        }
        let (boundary, length) = (self.boundary(), self.held.len() - self.whitespace);
        for candidate in std::mem::take(&mut self.candidates) {
            let is_complete = candidate.start + length >= self.end;
            if (is_complete && candidate.is_repetition(boundary, false))
                || candidate.is_long_restart(self.without_whitespace())
            {
                self.record(candidate.start, length);
            }
        }
        self.release()
    }

    fn compare(&mut self, from: usize) {
        let boundary = self.boundary();
        let (seen, new) = (from - self.whitespace, &self.held[from..]);
        let (mut candidates, mut ended) = (Vec::new(), Vec::new());
        for candidate in std::mem::take(&mut self.candidates) {
            let rest = &self.previous[candidate.start + seen..];
            if rest.starts_with(new) {
                candidates.push(candidate);
                continue;
            }
            let common = rest.chars().zip(new.chars()).take_while(|(a, b)| a == b);
            let same: usize = common.map(|(character, _)| character.len_utf8()).sum();
            let continues = new[same..].starts_with(candidate::is_term_char);
            // The previous text may have been interrupted inside a term.
            let completes = rest[same..].is_empty() && self.previous.ends_with(candidate::is_term_char) && continues;
            // A term that ends in whitespace is not the beginning of a longer one.
            let other = rest[same..].starts_with(char::is_whitespace) && new[same..].starts_with(char::is_alphanumeric);
            let is_complete = candidate.start + seen + same >= self.end && !other;
            if is_complete && candidate.is_repetition(boundary, completes) {
                ended.push((candidate.start, seen + same));
            }
        }
        self.candidates = candidates;
        for (start, length) in ended {
            self.record(start, length);
        }
    }

    fn record(&mut self, start: usize, length: usize) {
        if self.found.is_none_or(|(before, _)| start < before) {
            self.found = Some((start, length));
        }
    }

    /// Returns the held text once no longer repetition is possible.
    fn release(&mut self) -> String {
        let longest = self.candidates.first().map_or(usize::MAX, |candidate| candidate.start);
        if longest <= self.found.map_or(usize::MAX - 1, |(start, _)| start) {
            return String::new();
        }
        self.is_done = true;
        let held = std::mem::take(&mut self.held);
        match self.found {
            Some((_, length)) => held[self.whitespace + length..].to_owned(),
            None => held,
        }
    }

    fn without_whitespace(&self) -> &str {
        &self.held[self.whitespace..]
    }

    fn boundary(&self) -> Boundary {
        let (before, after) = (&self.previous[self.end..], &self.held[..self.whitespace]);
        Boundary {
            is_line_end: before.contains('\n') || after.contains('\n'),
            is_cell_border: self.previous[..self.end].ends_with('|') || self.without_whitespace().starts_with('|'),
            is_inside_term: after.is_empty()
                && self.previous.ends_with(char::is_alphanumeric)
                && self.without_whitespace().starts_with(char::is_alphanumeric),
        }
    }
}

#[cfg(test)]
mod tests;
