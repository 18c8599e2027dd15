//! Terms of texts and their BM25 ranking.
//!
//! A text in a script with spaces gives its lower-case terms; a Chinese, Japanese or Korean one gives pairs of adjacent
//! characters. Terms are compared by a 64-bit hash. There is no index: a search reads the texts once, which needs no
//! memory and no time before the first search.

use work::StopFlag;

/// After how many texts or vectors a ranking checks whether it is still needed.
pub(crate) const CHECK_INTERVAL: u32 = 64;

/// The maximum number of different terms of a query.
const MAX_TERMS: usize = 48;

/// How quickly repeated terms stop counting.
const K1: f32 = 1.2;

/// How much longer texts are discounted.
const B: f32 = 0.75;

/// The number of bits of the filter, a power of two.
const FILTER_BITS: u64 = 4096;

/// The terms of a query.
pub(crate) struct QueryTerms {
    hashes: Vec<u64>,
    /// A bit for each term: only a few others have the bit of one.
    filter: [u64; 64],
}

/// A text that has terms of the query.
struct Match {
    text: u32,
    length: u32,
    counts: Vec<u16>,
}

impl QueryTerms {
    pub(crate) fn new(query: &str) -> Self {
        let mut hashes = Vec::new();
        for_each_term(query, |hash| {
            if hashes.len() < MAX_TERMS && !hashes.contains(&hash) {
                hashes.push(hash);
            }
        });
        let mut filter = [0; 64];
        for hash in &hashes {
            let (slot, bit) = filter_position(*hash);
            if let Some(bits) = filter.get_mut(slot) {
                *bits |= bit;
            }
        }
        Self { hashes, filter }
    }

    fn position(&self, hash: u64) -> Option<usize> {
        let (slot, bit) = filter_position(hash);
        self.filter.get(slot).filter(|bits| **bits & bit != 0)?;
        self.hashes.iter().position(|known| *known == hash)
    }

    /// The BM25 score of each text with a term of the query, in the order of the texts; fewer after a stop.
    pub(crate) fn rank<'a>(&self, texts: impl Iterator<Item = &'a str>, stop: &StopFlag) -> Vec<(u32, f32)> {
        let (mut matches, mut total_length, mut texts_read) = (Vec::new(), 0_u64, 0_u32);
        for text in texts {
            if texts_read.is_multiple_of(CHECK_INTERVAL) && stop.is_set() {
                break;
            }
            let (counts, length) = self.count(text);
            if let Some(counts) = counts {
                matches.push(Match { text: texts_read, length, counts });
            }
            total_length += u64::from(length);
            texts_read += 1;
        }
        self.scores(&matches, texts_read, total_length)
    }

    /// How often a text has each term, if it has any, and the number of its terms.
    fn count(&self, text: &str) -> (Option<Vec<u16>>, u32) {
        let (mut counts, mut length): (Option<Vec<u16>>, u32) = (None, 0);
        for_each_term(text, |hash| {
            length += 1;
            if let Some(position) = self.position(hash) {
                let counts = counts.get_or_insert_with(|| vec![0; self.hashes.len()]);
                if let Some(count) = counts.get_mut(position) {
                    *count = count.saturating_add(1);
                }
            }
        });
        (counts, length)
    }

    #[expect(clippy::cast_precision_loss, reason = "a score needs no more than seven digits")]
    fn scores(&self, matches: &[Match], texts: u32, total_length: u64) -> Vec<(u32, f32)> {
        let mut with_term = vec![0_u32; self.hashes.len()];
        for found in matches {
            with_term.iter_mut().zip(&found.counts).for_each(|(texts, count)| *texts += u32::from(*count > 0));
        }
        let rarity = |with: &u32| ((texts - with) as f32 + 0.5) / (*with as f32 + 0.5) + 1.0;
        let weights: Vec<f32> = with_term.iter().map(|with| rarity(with).ln()).collect();
        let average = (total_length as f32 / texts.max(1) as f32).max(1.0);
        let score = |found: &Match| {
            let norm = K1 * (1.0 - B + B * found.length as f32 / average);
            let terms = found.counts.iter().map(|count| f32::from(*count)).zip(&weights);
            terms.map(|(count, weight)| weight * count * (K1 + 1.0) / (count + norm)).sum()
        };
        matches.iter().map(|found| (found.text, score(found))).collect()
    }
}

fn filter_position(hash: u64) -> (usize, u64) {
    let bit = hash % FILTER_BITS;
    (usize::try_from(bit / 64).unwrap_or_default(), 1 << (bit % 64))
}

/// Calls `found` with the hash of each term of a text, in order.
fn for_each_term(text: &str, mut found: impl FnMut(u64)) {
    let mut letters = Hash::default();
    let mut pair = Pair::default();
    for character in text.chars() {
        match class(character) {
            Class::Letter => {
                if character.is_ascii() {
                    letters.push(character.to_ascii_lowercase());
                } else {
                    character.to_lowercase().for_each(|letter| letters.push(letter));
                }
                pair.end(&mut found);
            }
            Class::Paired => {
                letters.take().into_iter().for_each(&mut found);
                pair.push(character, &mut found);
            }
            Class::Separator => {
                letters.take().into_iter().for_each(&mut found);
                pair.end(&mut found);
            }
        }
    }
    letters.take().into_iter().for_each(&mut found);
    pair.end(&mut found);
}

/// How a character is part of terms.
enum Class {
    Letter,
    /// Of a script without spaces: a term is two adjacent characters.
    Paired,
    Separator,
}

fn class(character: char) -> Class {
    match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Letter,
        '\0'..='\x7F' => Class::Separator,
        // Kana, Han characters and Hangul.
        '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Class::Paired,
        other if other.is_alphanumeric() => Class::Letter,
        _ => Class::Separator,
    }
}

/// The last character of a script without spaces. One that has no adjacent character is a term by itself.
#[derive(Default)]
struct Pair {
    before: Option<char>,
    is_alone: bool,
}

impl Pair {
    fn push(&mut self, character: char, found: &mut impl FnMut(u64)) {
        if let Some(before) = self.before {
            found(Hash::of(&[before, character]));
        }
        self.is_alone = self.before.is_none();
        self.before = Some(character);
    }

    fn end(&mut self, found: &mut impl FnMut(u64)) {
        if let Some(single) = self.before.take().filter(|_| self.is_alone) {
            found(Hash::of(&[single]));
        }
    }
}

/// FNV-1a over characters.
#[derive(Default)]
struct Hash(Option<u64>);

impl Hash {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;

    fn of(characters: &[char]) -> u64 {
        let mut hash = Self::default();
        for character in characters {
            hash.push(*character);
        }
        hash.0.unwrap_or_default()
    }

    fn push(&mut self, character: char) {
        let mixed = self.0.unwrap_or(Self::OFFSET) ^ u64::from(u32::from(character));
        let hash = mixed.wrapping_mul(Self::PRIME);
        // The filter reads the lowest bits, into which the highest ones must go.
        self.0 = Some(hash ^ (hash >> 29));
    }

    fn take(&mut self) -> Option<u64> {
        self.0.take()
    }
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
        Hash::of(&term.chars().collect::<Vec<_>>())
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
