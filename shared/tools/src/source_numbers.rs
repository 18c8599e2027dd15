//! The numbers under which models read and cite pages.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use domain::{NumberedSources, Source};
use work::lock;

use crate::url_allowlist::page_identity;

/// The numbers of a conversation's pages, from 1. Clones share their state.
///
/// A page keeps its number in all turns. Addresses are compared as in the [`UrlAllowlist`](crate::UrlAllowlist); of
/// equal addresses, the first one is kept.
#[derive(Clone, Debug, Default)]
pub struct SourceNumbers(Arc<Mutex<Numbered>>);

#[derive(Debug, Default)]
struct Numbered {
    sources: BTreeMap<usize, Source>,
    by_page: HashMap<String, usize>,
    /// The highest number that was given to a page.
    last: usize,
    /// The highest number of the turns before this one.
    last_of_earlier: usize,
}

impl SourceNumbers {
    /// Continues the numbers of earlier turns. Of several pages under one number the first one keeps it, and the others
    /// get new ones.
    pub fn continuing(earlier: &NumberedSources) -> Self {
        let mut numbered = Numbered { last: earlier.last, ..Numbered::default() };
        for source in &earlier.sources {
            numbered.keep(source);
        }
        numbered.last_of_earlier = numbered.last;
        Self(Arc::new(Mutex::new(numbered)))
    }

    /// Returns the page with its number, which is new for a new page.
    pub fn number(&self, title: &str, url: &str) -> Source {
        lock(&self.0).number(title, url)
    }

    /// The number that [`number`](Self::number) would return now.
    pub fn peek(&self, url: &str) -> usize {
        let numbered = lock(&self.0);
        numbered.by_page.get(&page_identity(url)).copied().unwrap_or(numbered.last + 1)
    }

    /// Adds pages that have their numbers already.
    pub fn adopt(&self, sources: &[Source]) {
        let mut numbered = lock(&self.0);
        for source in sources {
            numbered.keep(source);
        }
    }

    /// The page with this number.
    pub fn get(&self, index: usize) -> Option<Source> {
        lock(&self.0).sources.get(&index).cloned()
    }

    /// The highest number that was given to a page.
    pub fn last(&self) -> usize {
        lock(&self.0).last
    }

    /// Whether there is no page.
    pub fn is_empty(&self) -> bool {
        lock(&self.0).sources.is_empty()
    }

    /// All pages with the highest number.
    pub fn all(&self) -> NumberedSources {
        self.from(0)
    }

    /// The pages that this turn has added, with the highest number.
    pub fn added(&self) -> NumberedSources {
        let last_of_earlier = lock(&self.0).last_of_earlier;
        self.from(last_of_earlier + 1)
    }

    fn from(&self, first: usize) -> NumberedSources {
        let numbered = lock(&self.0);
        let sources = numbered.sources.range(first..).map(|(_, source)| source.clone()).collect();
        NumberedSources { sources, last: numbered.last }
    }
}

impl Numbered {
    /// Adds a page under its own number, or under a new one if that is not free.
    fn keep(&mut self, source: &Source) {
        if source.index == 0 || self.sources.contains_key(&source.index) {
            self.number(&source.title, &source.url);
        } else if !self.by_page.contains_key(&page_identity(&source.url)) {
            self.insert(source.clone());
        }
    }

    fn number(&mut self, title: &str, url: &str) -> Source {
        let known = self.by_page.get(&page_identity(url)).and_then(|index| self.sources.get(index));
        if let Some(known) = known {
            return Source { title: title.to_owned(), ..known.clone() };
        }
        let source =
            Source { index: self.last + 1, title: title.to_owned(), url: url.to_owned(), excerpt: String::new() };
        self.insert(source.clone());
        source
    }

    fn insert(&mut self, source: Source) {
        self.last = self.last.max(source.index);
        self.by_page.insert(page_identity(&source.url), source.index);
        self.sources.insert(source.index, source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(index: usize, url: &str) -> Source {
        Source { index, title: url.to_owned(), url: url.to_owned(), excerpt: String::new() }
    }

    fn continuing(sources: &[(usize, &str)], last: usize) -> SourceNumbers {
        let sources = sources.iter().map(|(index, url)| source(*index, url)).collect();
        SourceNumbers::continuing(&NumberedSources { sources, last })
    }

    fn indexes(numbered: &NumberedSources) -> Vec<(usize, &str)> {
        numbered.sources.iter().map(|source| (source.index, source.url.as_str())).collect()
    }

    #[test]
    fn same_page_keeps_its_number_and_first_spelling() {
        let numbers = SourceNumbers::default();
        let urls = ["https://a.example/x/", "https://b.example", "HTTPS://A.example:443/x#y", "not a url", "not a url"];
        assert_eq!(urls.map(|url| numbers.number("t", url).index), [1, 2, 1, 3, 3]);
        assert_eq!(numbers.number("other", "https://a.example/x").url, "https://a.example/x/");
        assert_eq!((numbers.get(3).map(|page| page.title), numbers.get(4)), (Some("t".to_owned()), None));
    }

    #[test]
    fn next_turn_continues_after_the_highest_number() {
        let numbers = continuing(&[(1, "https://a.example"), (3, "https://b.example")], 7);
        assert_eq!(numbers.added(), NumberedSources { sources: Vec::new(), last: 7 });
        let given = ["https://b.example", "https://c.example"].map(|url| numbers.number("t", url).index);
        assert_eq!(given, [3, 8]);
        assert_eq!(indexes(&numbers.added()), [(8, "https://c.example")]);
        assert_eq!((numbers.all().sources.len(), numbers.all().last), (3, 8));
    }

    #[test]
    fn stored_pages_under_one_number_get_different_ones() {
        let urls = ["https://a.example", "https://b.example", "https://c.example"];
        let numbers =
            continuing(&[(1, urls[0]), (2, urls[1]), (1, urls[2]), (2, urls[0]), (0, "https://d.example")], 0);
        let expected = [(1, urls[0]), (2, urls[1]), (3, urls[2]), (4, "https://d.example")];
        assert_eq!(indexes(&numbers.all()), expected);
    }
}
