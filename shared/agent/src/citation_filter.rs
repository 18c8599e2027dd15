//! Removes citations of sources that do not exist from an answer as it streams.

use domain::{AnswerPart, CitationScanner, Source};
use tools::SourceNumbers;

/// From this number on a bracket without a source is text: it is rather a year.
const FIRST_YEAR: usize = 1000;

/// Maximum number of spaces that are held back before a citation.
const MAX_SPACES: usize = 4;

/// Removes citations without a source from text, as soon as there is any source; before, `[1]` is the user's own
/// notation. At most the spaces and the bracket at the end of the text are held back.
///
/// A citation in other brackets becomes `[1]`, which all clients read. A space that is left before punctuation is removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct CitationFilter {
    numbers: SourceNumbers,
    is_active: bool,
    scanner: CitationScanner,
    parts: Vec<AnswerPart>,
    /// Spaces at the end of the text.
    spaces: String,
    /// Whether a citation was removed directly before the next character.
    has_removed: bool,
    /// Whether the text so far ends within a line.
    is_in_line: bool,
}

/// Text to emit, with the sources that it cites.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FilteredText {
    pub(crate) text: String,
    pub(crate) cited: Vec<Source>,
}

impl CitationFilter {
    /// Filters by the sources of a conversation.
    pub(crate) fn new(numbers: SourceNumbers) -> Self {
        Self { numbers, ..Self::default() }
    }

    /// Filters the next delta.
    pub(crate) fn push(&mut self, delta: String) -> FilteredText {
        let was_active = self.is_active;
        self.is_active = was_active || !self.numbers.is_empty();
        if self.is_active && !was_active {
            // It was emitted already.
            self.scanner.discard();
        }
        if !self.is_active {
            self.scanner.skip(&delta);
            self.is_in_line = if delta.is_empty() { self.is_in_line } else { !delta.ends_with('\n') };
            return FilteredText { text: delta, cited: Vec::new() };
        }
        self.scanner.push(&delta, &mut self.parts);
        self.filter()
    }

    /// Returns what was held back at the end of a reply.
    pub(crate) fn finish(&mut self) -> FilteredText {
        self.scanner.finish(&mut self.parts);
        if !self.is_active {
            self.parts.clear();
            return FilteredText::default();
        }
        let mut filtered = self.filter();
        let spaces = std::mem::take(&mut self.spaces);
        if !std::mem::take(&mut self.has_removed) {
            filtered.text.push_str(&spaces);
        }
        filtered
    }

    /// Forgets what is held back, because the reply was dropped.
    pub(crate) fn discard(&mut self) {
        self.scanner.discard();
        self.spaces.clear();
        self.has_removed = false;
    }

    fn filter(&mut self) -> FilteredText {
        let mut filtered = FilteredText::default();
        for part in std::mem::take(&mut self.parts) {
            match part {
                AnswerPart::Text(text) => self.push_text(&text, &mut filtered.text),
                AnswerPart::Citation { raw, numbers } => self.push_citation(&raw, &numbers, &mut filtered),
            }
        }
        filtered
    }

    fn push_text(&mut self, text: &str, out: &mut String) {
        let mut text = text;
        if std::mem::take(&mut self.has_removed) {
            let is_dangling = text.starts_with(ends_clause);
            if is_dangling {
                self.spaces.clear();
            }
            if !self.is_in_line {
                text = text.strip_prefix(' ').unwrap_or(text);
            }
        }
        self.flush_spaces(out);
        let trimmed = text.trim_end_matches(' ');
        let (text, spaces) =
            if text.len() - trimmed.len() > MAX_SPACES { (text, "") } else { text.split_at(trimmed.len()) };
        if !text.is_empty() {
            self.is_in_line = !text.ends_with('\n');
        }
        out.push_str(text);
        self.spaces.push_str(spaces);
    }

    fn push_citation(&mut self, raw: &str, numbers: &[usize], filtered: &mut FilteredText) {
        let known: Vec<Source> = numbers.iter().filter_map(|number| self.numbers.get(*number)).collect();
        let citation = if known.len() == numbers.len() && raw.starts_with('[') {
            raw.to_owned()
        } else if !known.is_empty() {
            let numbers: Vec<String> = known.iter().map(|source| source.index.to_string()).collect();
            format!("[{}]", numbers.join(", "))
        } else if numbers.iter().any(|number| *number >= FIRST_YEAR) {
            raw.to_owned()
        } else {
            self.has_removed = true;
            return;
        };
        self.has_removed = false;
        self.flush_spaces(&mut filtered.text);
        filtered.text.push_str(&citation);
        filtered.cited.extend(known);
        self.is_in_line = true;
    }

    fn flush_spaces(&mut self, out: &mut String) {
        if !self.spaces.is_empty() {
            out.push_str(&self.spaces);
            self.spaces.clear();
            self.is_in_line = true;
        }
    }
}

/// Whether no space precedes this character after a removed citation.
fn ends_clause(character: char) -> bool {
    character.is_whitespace() || ".,;:!?)…。，、；：！？）】」』”’》".contains(character)
}

#[cfg(test)]
mod tests {
    use domain::NumberedSources;

    use super::*;

    fn numbers(known: &[usize]) -> SourceNumbers {
        let source = |index: &usize| Source {
            index: *index,
            title: "t".into(),
            url: format!("https://{index}.example"),
            excerpt: String::new(),
        };
        SourceNumbers::continuing(&NumberedSources { sources: known.iter().map(source).collect(), last: 0 })
    }

    /// The filtered deltas, each with the numbers that it cites; the last one is the end.
    fn deltas(known: &[usize], deltas: &[&str]) -> Vec<(String, Vec<usize>)> {
        let mut filter = CitationFilter::new(numbers(known));
        let mut filtered: Vec<FilteredText> = deltas.iter().map(|delta| filter.push((*delta).to_owned())).collect();
        filtered.push(filter.finish());
        filtered.into_iter().map(|one| (one.text, one.cited.iter().map(|source| source.index).collect())).collect()
    }

    fn filtered(known: &[usize], parts: &[&str]) -> String {
        deltas(known, parts).into_iter().map(|(text, _)| text).collect()
    }

    /// Texts of a conversation with the sources 1, 2 and 12, and what remains of them.
    const CASES: &[(&str, &str)] = &[
        ("晴[1]，雨[9]。", "晴[1]，雨。"),
        ("sunny [9], rain [2].", "sunny, rain [2]."),
        ("a [9] b [9]\n[9] c", "a b\nc"),
        ("a [1, 9, 2] b [7, 9].", "a [1, 2] b."),
        ("a [1][9][2] [9][8].", "a [1][2]."),
        ("［9］【8】a【1】b［1，2］", "a[1]b[1, 2]"),
        ("x [1-3] y [8-9].", "x [1, 2] y."),
        ("[[9]] [[12]]", "[[12]]"),
        ("**a** [0] [123]!", "**a**!"),
        ("晴 [9]", "晴"),
        ("- [9] a\n- [1] b", "- a\n- [1] b"),
        ("[9](https://a.example) [^9] a[9] `[9]` $x [9]$ [2024]", ""),
        ("```\n[9]\n``` \n\n[1]: https://a.example", ""),
        ("a  b   c \n  d    ", ""),
    ];

    #[test]
    fn invalid_citations_are_removed_at_every_split() {
        for (text, expected) in CASES {
            let expected = if expected.is_empty() { text } else { expected };
            assert_eq!(filtered(&[1, 2, 12], &[text]), *expected);
            for (at, _) in text.char_indices() {
                let (before, after) = text.split_at(at);
                assert_eq!(filtered(&[1, 2, 12], &[before, after]), *expected, "{before}|{after}");
            }
            let characters: Vec<String> = text.chars().map(String::from).collect();
            let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
            assert_eq!(filtered(&[1, 2, 12], &characters), *expected, "{text}");
        }
    }

    #[test]
    fn conversation_without_sources_keeps_everything_undelayed() {
        for (text, _) in CASES {
            let kept = deltas(&[], &[text]);
            assert_eq!(kept, [((*text).to_owned(), Vec::new()), (String::new(), Vec::new())]);
        }
    }

    #[test]
    fn only_a_possible_citation_is_held_back() {
        let texts: Vec<_> = deltas(&[1], &["a", " b", " ", "[1", "]", "c", "[", "x"]);
        let texts: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["a", " b", "", "", "", " [1]c", "[", "x", ""]);
    }

    #[test]
    fn first_source_of_a_turn_starts_the_filter() {
        let numbers = SourceNumbers::default();
        let mut filter = CitationFilter::new(numbers.clone());
        assert_eq!(filter.push("`a` [9] [1".to_owned()).text, "`a` [9] [1");
        numbers.number("t", "https://a.example");
        assert_eq!(filter.push("] b [9] [1]!".to_owned()).text, "] b [1]!");
        assert_eq!(filter.finish(), FilteredText::default());
    }

    #[test]
    fn discarded_text_never_appears() {
        let mut filter = CitationFilter::new(numbers(&[1]));
        assert_eq!(filter.push("a [1".to_owned()).text, "a");
        filter.discard();
        let cited = filter.push(" b [1].".to_owned());
        assert_eq!((cited.text.as_str(), cited.cited.len()), (" b [1].", 1));
    }
}
