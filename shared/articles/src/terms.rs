//! Terms of texts and their BM25 ranking.
//!
//! A text in a script with spaces gives its lower-case terms; a Chinese, Japanese or Korean one gives pairs of adjacent
//! characters. Terms are compared by a 64-bit hash. There is no index: a search reads the texts once, which needs no
//! memory and no time before the first search.

use domain::CharClass as Class;
use work::StopFlag;

/// After how many texts or vectors a ranking checks whether it is still needed.
pub(crate) const CHECK_INTERVAL: u32 = 64;

/// The maximum number of different terms of a query.
const MAX_TERMS: usize = 48;

/// Terms that nearly every text has: a query that has others too is ranked without them.
// Chosen by hand for questions in English and Chinese; no source noted, 2026-11-26.
const STOP_TERMS: &str = include_str!("../stop_terms.txt");

/// How quickly repeated terms stop counting.
const K1: f32 = 1.2;

/// How much longer texts are discounted.
const B: f32 = 0.75;

const FILTER_SLOTS: u64 = 4096;

pub(crate) struct QueryTerms {
    hashes: Vec<u64>,
    /// Whether a term has this slot: only a few others have the same.
    filter: Vec<bool>,
}

/// A text that has terms of the query: its number, its length in terms, and how often it has each term of the query.
type Match = (u32, u32, Vec<u16>);

impl QueryTerms {
    pub(crate) fn new(query: &str) -> Self {
        let mut hashes = Vec::new();
        for_each_term(query, |hash| {
            if hashes.len() < MAX_TERMS && !hashes.contains(&hash) {
                hashes.push(hash);
            }
        });
        let mut stop_terms = Vec::new();
        for_each_term(STOP_TERMS, |hash| stop_terms.push(hash));
        if hashes.iter().any(|hash| !stop_terms.contains(hash)) {
            hashes.retain(|hash| !stop_terms.contains(hash));
        }
        let filter = (0..FILTER_SLOTS).map(|slot| hashes.iter().any(|hash| hash % FILTER_SLOTS == slot)).collect();
        Self { hashes, filter }
    }

    fn position(&self, hash: u64) -> Option<usize> {
        let slot = usize::try_from(hash % FILTER_SLOTS).ok()?;
        self.filter.get(slot).filter(|is_used| **is_used)?;
        self.hashes.iter().position(|known| *known == hash)
    }

    /// The BM25 score of each text with a term of the query, in the order of the texts; fewer after a stop.
    pub(crate) fn rank<'a>(&self, texts: impl Iterator<Item = &'a str>, stop: &StopFlag) -> Vec<(u32, f32)> {
        let (mut matches, mut total_length, mut texts_read) = (Vec::new(), 0_u64, 0_u32);
        for text in texts {
            if texts_read.is_multiple_of(CHECK_INTERVAL) && stop.is_set() {
                break;
            }
            let (mut counts, mut length): (Vec<u16>, u32) = (Vec::new(), 0);
            for_each_term(text, |hash| {
                length += 1;
                if let Some(position) = self.position(hash) {
                    counts.resize(self.hashes.len(), 0);
                    counts.get_mut(position).into_iter().for_each(|count| *count = count.saturating_add(1));
                }
            });
            if !counts.is_empty() {
                matches.push((texts_read, length, counts));
            }
            total_length += u64::from(length);
            texts_read += 1;
        }
        self.scores(&matches, texts_read, total_length)
    }

    #[expect(clippy::cast_precision_loss, reason = "a score needs no more than seven digits")]
    fn scores(&self, matches: &[Match], texts: u32, total_length: u64) -> Vec<(u32, f32)> {
        let mut with_term = vec![0_u32; self.hashes.len()];
        for (_, _, counts) in matches {
            with_term.iter_mut().zip(counts).for_each(|(texts, count)| *texts += u32::from(*count > 0));
        }
        let rarity = |with: &u32| ((texts - with) as f32 + 0.5) / (*with as f32 + 0.5) + 1.0;
        let weights: Vec<f32> = with_term.iter().map(|with| rarity(with).ln()).collect();
        let average = (total_length as f32 / texts.max(1) as f32).max(1.0);
        let score = |length: u32, counts: &[u16]| {
            let norm = K1 * (1.0 - B + B * length as f32 / average);
            let terms = counts.iter().map(|count| f32::from(*count)).zip(&weights);
            terms.map(|(count, weight)| weight * count * (K1 + 1.0) / (count + norm)).sum()
        };
        matches.iter().map(|(text, length, counts)| (*text, score(*length, counts))).collect()
    }
}

/// Calls `found` with the hash of each term of a text, in order.
fn for_each_term(text: &str, mut found: impl FnMut(u64)) {
    let (mut letters, mut paired): (Option<u64>, Option<char>) = (None, None);
    let mut is_alone = false;
    // The line end closes the last term.
    text.chars().chain(['\n']).for_each(|character| {
        let class = Class::of(character);
        if !matches!(class, Class::Letter) {
            letters.take().into_iter().for_each(&mut found);
        }
        if !matches!(class, Class::Paired) {
            // One that has no adjacent character is a term by itself.
            paired.take().filter(|_| is_alone).map(|single| extend(None, single)).into_iter().for_each(&mut found);
        }
        match class {
            Class::Letter if character.is_ascii() => letters = Some(extend(letters, character.to_ascii_lowercase())),
            Class::Letter => character.to_lowercase().for_each(|letter| letters = Some(extend(letters, letter))),
            Class::Paired => {
                let before = paired.replace(character);
                is_alone = before.is_none();
                before.map(|before| extend(Some(extend(None, before)), character)).into_iter().for_each(&mut found);
            }
            Class::Separator => {}
        }
    });
}

/// The hash of a term and another character: FNV-1a over characters.
fn extend(hash: Option<u64>, character: char) -> u64 {
    let mixed = hash.unwrap_or(0xcbf2_9ce4_8422_2325) ^ u64::from(u32::from(character));
    let hash = mixed.wrapping_mul(0x0000_0100_0000_01b3);
    // The filter reads the lowest bits, into which the highest ones must go.
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<u64> {
        let mut found = Vec::new();
        for_each_term(text, |hash| found.push(hash));
        found
    }

    fn hash(term: &str) -> u64 {
        term.chars().fold(None, |hash, character| Some(extend(hash, character))).unwrap()
    }

    fn ranking(query: &str, texts: &[&str]) -> Vec<u32> {
        let mut scores = QueryTerms::new(query).rank(texts.iter().copied(), &StopFlag::default());
        scores.sort_by(|one, other| other.1.total_cmp(&one.1));
        scores.into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn terms_are_lowercase_or_pairs_of_characters() {
        assert_eq!(terms("Hello, WORLD-2 x"), ["hello", "world", "2", "x"].map(hash));
        assert_eq!(terms("绿茶很好"), ["绿茶", "茶很", "很好"].map(hash));
        assert_eq!(terms("用AWS的表，茶。"), ["用", "aws", "的表", "茶"].map(hash));
        assert_eq!(terms("カタ"), ["カタ"].map(hash));
        assert_eq!(terms(" …! "), [0; 0]);
    }

    #[test]
    fn rare_terms_and_short_texts_rank_higher() {
        let texts = ["the lease of a turn", "the turn and the turn", "the head", "the lease", "nothing else"];
        assert_eq!(ranking("lease", &texts), [3, 0]);
        assert_eq!(ranking("the lease", &texts)[..2], [3, 0]);
        assert_eq!(ranking("missing", &texts), [0; 0]);
        assert_eq!(ranking("how is the lease", &texts), [3, 0]);
        assert_eq!(ranking("the", &texts).len(), 4, "a query may consist of stop terms");
        assert_eq!(ranking("什么是绿茶", &["什么都有", "喝绿茶"]), [1]);
        assert_eq!(ranking("绿茶", &["喝绿茶", "喝红茶", "绿色的茶"]), [0]);
    }

    #[test]
    fn query_terms_are_bounded() {
        let query: String = (0..1_000).fold(String::new(), |query, number| format!("{query}t{number} "));
        assert_eq!(QueryTerms::new(&query).hashes.len(), MAX_TERMS);
    }

    #[test]
    fn stopped_ranking_reads_no_more() {
        let stop = StopFlag::default();
        stop.set();
        assert_eq!(QueryTerms::new("a").rank(["a"; 9].into_iter(), &stop), []);
    }
}
