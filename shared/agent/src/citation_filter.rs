mod context;
#[cfg(test)]
mod tests;

use domain::{AnswerPart, CitationScanner, Source};
use tools::SourceNumbers;

use self::context::Context;

/// How far above the last page an invented number is likely to be: two searches of ten pages that the model made up. A
/// higher number is rather a year, an amount or an identifier.
const MAX_DISTANCE: usize = 20;

/// Maximum number of adjacent citations that are held back.
const MAX_RUN: usize = 8;

/// Removes citations without a source from text, as soon as there is any source; before, `[1]` is the user's own
/// notation.
///
/// Only a single number near those of the pages, as a note after a phrase or a sentence, is removed ([`Context`]). All other
/// brackets are kept as they are: lists, ranges, data, code, labels. At most a space, adjacent citations and one character
/// after them are held back. A citation in other brackets becomes `[1]`, which all clients read.
#[derive(Clone, Debug, Default)]
pub(crate) struct CitationFilter {
    numbers: SourceNumbers,
    is_active: bool,
    scanner: CitationScanner,
    parts: Vec<AnswerPart>,
    context: Context,
    /// Whether a space at the end of the text is held back.
    has_space: bool,
    /// Whether the next citation is directly after an ASCII letter or digit, as an index such as `a[3]` is.
    is_index: bool,
    /// Adjacent citations, as written and as numbers, until the text after them decides.
    run: Vec<(String, Vec<usize>)>,
    /// The first character after them, if it does not decide yet.
    after: String,
}

/// What to emit, in this order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FilteredAnswer {
    pub(crate) thinking: String,
    pub(crate) cited: Vec<Source>,
    pub(crate) text: String,
}

impl CitationFilter {
    pub(crate) fn new(numbers: SourceNumbers) -> Self {
        Self { numbers, ..Self::default() }
    }

    pub(crate) fn push(&mut self, delta: String) -> FilteredAnswer {
        if !self.is_active && self.numbers.is_empty() {
            self.scanner.skip(&delta);
            self.context = Context::unknown();
            return FilteredAnswer { text: delta, ..FilteredAnswer::default() };
        }
        if !std::mem::replace(&mut self.is_active, true) {
            // It was emitted already.
            self.scanner.discard();
        }
        self.scanner.push(&delta, &mut self.parts);
        self.filter()
    }

    pub(crate) fn finish(&mut self) -> FilteredAnswer {
        self.scanner.finish(&mut self.parts);
        if !self.is_active {
            self.parts.clear();
        }
        let mut filtered = self.filter();
        let after = std::mem::take(&mut self.after);
        self.end_run(&after, &mut filtered);
        self.push_text(&after, &mut filtered.text);
        self.flush_space(&mut filtered.text);
        self.context = Context::default();
        filtered
    }

    pub(crate) fn discard(&mut self) {
        self.scanner.discard();
        self.has_space = false;
        self.run.clear();
        self.after.clear();
    }

    fn filter(&mut self) -> FilteredAnswer {
        let mut filtered = FilteredAnswer::default();
        for part in std::mem::take(&mut self.parts) {
            match part {
                AnswerPart::Text(text) => self.add_text(text, &mut filtered),
                AnswerPart::Citation { raw, numbers } => {
                    self.end_after_character(&mut filtered);
                    self.run.push((raw, numbers));
                    if self.is_certain() || self.run.len() == MAX_RUN {
                        self.end_run("[", &mut filtered);
                    }
                }
            }
        }
        filtered
    }

    fn add_text(&mut self, text: String, filtered: &mut FilteredAnswer) {
        let text = if self.after.is_empty() { text } else { std::mem::take(&mut self.after) + &text };
        if !self.run.is_empty() {
            if text.len() == 1 && text.ends_with(['.', ',', ';', '!', '?']) {
                self.after = text;
                return;
            }
            self.end_run(&text, filtered);
        }
        self.push_text(&text, &mut filtered.text);
    }

    /// Ends a run before a single character that another citation follows.
    fn end_after_character(&mut self, filtered: &mut FilteredAnswer) {
        if !self.after.is_empty() {
            let after = std::mem::take(&mut self.after);
            self.end_run(&format!("{after}["), filtered);
            self.push_text(&after, &mut filtered.text);
        }
    }

    fn push_text(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        self.flush_space(out);
        let shown = text.strip_suffix(' ').unwrap_or(text);
        self.has_space = shown.len() < text.len();
        self.context.push(shown);
        self.is_index = !self.has_space && shown.ends_with(|last: char| last.is_ascii_alphanumeric());
        out.push_str(shown);
    }

    /// Whether the run is one citation that stays as it is.
    fn is_certain(&self) -> bool {
        matches!(self.run.as_slice(), [(raw, numbers)] if raw.starts_with('[')
            && numbers.iter().all(|number| self.numbers.get(*number).is_some()))
    }

    fn end_run(&mut self, after: &str, filtered: &mut FilteredAnswer) {
        if self.run.is_empty() {
            return;
        }
        let is_note = !std::mem::take(&mut self.is_index) && self.context.is_note(self.has_space, after);
        let mut space = if std::mem::take(&mut self.has_space) { " " } else { "" };
        for (raw, numbers) in std::mem::take(&mut self.run) {
            let known: Vec<Source> = numbers.iter().filter_map(|number| self.numbers.get(*number)).collect();
            let are_known = known.len() == numbers.len();
            if is_note && !are_known && self.is_invented(&raw, &numbers) {
                continue;
            }
            filtered.text.push_str(std::mem::take(&mut space));
            if is_note && are_known && !raw.starts_with('[') {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                filtered.text.extend(["[", &numbers.join(", "), "]"]);
            } else {
                filtered.text.push_str(&raw);
            }
            filtered.cited.extend(known);
        }
    }

    /// Whether a citation without a source is a single number near those of the pages.
    fn is_invented(&self, raw: &str, numbers: &[usize]) -> bool {
        let [number] = numbers else { return false };
        let inner = raw.strip_prefix(['[', '［', '【']).and_then(|rest| rest.strip_suffix([']', '］', '】']));
        inner == Some(&number.to_string()) && *number <= self.numbers.last() + MAX_DISTANCE
    }

    fn flush_space(&mut self, out: &mut String) {
        if std::mem::take(&mut self.has_space) {
            self.context.push(" ");
            out.push(' ');
        }
    }
}
