//! The parts of a text that are cited: its pages, or its lines.

use std::collections::HashSet;

/// Between two pages of a text.
pub(crate) const PAGE_SEPARATOR: char = '\u{c}';

/// How many lines a passage of a search has.
const PASSAGE_LINES: usize = 8;

/// The longest passage, in characters.
const MAX_PASSAGE_CHARS: usize = 1_200;

/// A passage that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The number of its page or of its first line, from 1.
    pub(crate) number: usize,
    pub(crate) text: String,
    /// How many of the terms it contains, and how often.
    pub(crate) score: (usize, usize),
}

/// The pages of a text, or its lines.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    if text.contains(PAGE_SEPARATOR) { text.split(PAGE_SEPARATOR).collect() } else { text.lines().collect() }
}

/// Parts with their numbers, of which the first is `first`.
pub(crate) fn numbered(parts: &[&str], first: usize, are_pages: bool) -> String {
    let number = |(part, number): (&&str, usize)| {
        if are_pages { format!("[{number}]\n{}", part.trim()) } else { format!("{number}: {part}") }
    };
    let parts: Vec<String> = parts.iter().zip(first..).map(number).collect();
    parts.join(if are_pages { "\n\n" } else { "\n" })
}

/// A whole text with the numbers of its pages or lines.
pub(crate) fn numbered_text(text: &str) -> String {
    numbered(&parts(text), 1, text.contains(PAGE_SEPARATOR))
}

/// The terms of a query: its terms in lower case, and the pairs of characters of scripts without spaces.
pub(crate) fn terms(query: &str) -> HashSet<String> {
    let query = query.to_lowercase();
    let mut terms = HashSet::new();
    for term in query.split(|character: char| !character.is_alphanumeric()).filter(|term| !term.is_empty()) {
        let characters: Vec<char> = term.chars().collect();
        if term.is_ascii() || characters.len() < 3 {
            terms.insert(term.to_owned());
        } else {
            terms.extend(characters.windows(2).map(String::from_iter));
        }
    }
    terms
}

/// The passages of a text that contain a term; works in time linear in the text for each term, and ends when it `is_due`.
pub(crate) fn search(text: &str, terms: &HashSet<String>, is_due: impl Fn() -> bool) -> Vec<Passage> {
    let are_pages = text.contains(PAGE_SEPARATOR);
    let parts = parts(text);
    let size = if are_pages { 1 } else { PASSAGE_LINES };
    let passage = |(index, parts): (usize, &[&str])| {
        let lower = parts.join("\n").to_lowercase();
        let counts = terms.iter().map(|term| lower.matches(term.as_str()).count());
        let score = counts.fold((0, 0), |(distinct, all), count| (distinct + count.min(1), all + count));
        let start = terms.iter().filter_map(|term| lower.find(term.as_str())).min()?;
        if are_pages {
            let text = around(parts[0], start).chars().take(MAX_PASSAGE_CHARS).collect();
            return Some(Passage { number: index + 1, text, score });
        }
        // From the line of the first match on.
        let line = lower[..start].matches('\n').count().min(parts.len() - 1);
        let (number, column) = (index * size + line + 1, start - lower[..start].rfind('\n').map_or(0, |at| at + 1));
        let text = numbered(&[&[&*around(parts[line], column)], &parts[line + 1..]].concat(), number, false);
        Some(Passage { number, text: text.chars().take(MAX_PASSAGE_CHARS).collect(), score })
    };
    parts.chunks(size).enumerate().take_while(|_| !is_due()).filter_map(passage).collect()
}

/// A long page or line from some characters before a position on.
fn around(page: &str, position: usize) -> String {
    let start = page.floor_char_boundary(position.saturating_sub(MAX_PASSAGE_CHARS / 4).min(page.len()));
    page[start..].trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_pages_have_numbers() {
        assert_eq!(numbered_text("a\nb"), "1: a\n2: b");
        assert_eq!(numbered_text("a\nb\u{c}c"), "[1]\na\nb\n\n[2]\nc");
        assert_eq!(numbered(&["x", "y"], 7, false), "7: x\n8: y");
    }

    #[test]
    fn terms_of_scripts_without_spaces_are_pairs() {
        assert_eq!(terms("Notice period, 2026"), ["notice", "period", "2026"].map(String::from).into());
        assert_eq!(terms("退款期限"), ["退款", "款期", "期限"].map(String::from).into());
        assert!(terms(" ,。").is_empty());
    }

    #[test]
    fn passages_with_more_terms_score_higher() {
        let lines: Vec<String> = (1..=40).map(|line| format!("line {line}")).collect();
        let text = lines.join("\n") + "\nthe NOTICE period is 30 days\n";
        let found = search(&text, &terms("notice period line"), || false);
        assert_eq!(found.len(), 6);
        let best = found.iter().max_by_key(|passage| passage.score).unwrap();
        assert_eq!((best.number, best.score.0), (41, 2));
        assert!(best.text.starts_with("41: the NOTICE"), "{}", best.text);
        assert!(search(&text, &terms("退款"), || false).is_empty());
        assert!(search(&text, &terms("line"), || true).is_empty());
    }

    #[test]
    fn long_page_begins_near_the_term() {
        let page = format!("a\u{c}{}退款期限三十天{}", "前".repeat(5_000), "后".repeat(5_000));
        let found = search(&page, &terms("退款期限"), || false);
        assert_eq!((found.len(), found[0].number), (1, 2));
        assert!(found[0].text.contains("退款期限三十天") && found[0].text.chars().count() <= MAX_PASSAGE_CHARS);
    }
}
