use std::ops::Range;

use domain::CharClass;
use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

/// The number of characters before the first term of a snippet, and of all characters.
const BEFORE: usize = 40;
const SNIPPET: usize = 200;

/// The minimum number of letters that find a longer run. Digests have the hash of as many, and of twice as many.
const MIN_PREFIX: usize = 3;

/// What a search of conversations finds: texts with all terms of the query.
///
/// A term is a run of letters and digits, which is found where one begins with it, or as a whole if it has one or two;
/// or a run of Chinese, Japanese, Korean or Thai characters or of symbols, which is found anywhere.
#[derive(Clone, Debug)]
pub struct ConversationQuery {
    terms: Vec<Vec<char>>,
    /// The hashes that a text with all terms has.
    pub(super) hashes: Vec<u64>,
}

impl ConversationQuery {
    /// The maximum length of a query, in characters.
    pub const MAX_CHARS: usize = 200;

    /// Reads a query; `None` if it is too long or has no term.
    pub fn parse(text: &str) -> Option<Self> {
        let text = Some(text).filter(|text| text.chars().nth(Self::MAX_CHARS).is_none()).map(SearchText::of)?;
        let terms: Vec<Vec<char>> = text.runs().map(<[char]>::to_vec).collect();
        (!terms.is_empty()).then(|| Self { terms, hashes: text.hashes().collect() })
    }
}

/// A text as searches compare it: in compatible forms (NFKD) and lower case, without combining marks.
pub(super) struct SearchText<'a> {
    source: &'a str,
    characters: Vec<char>,
    /// Where in the source each character begins.
    offsets: Vec<usize>,
}

impl<'a> SearchText<'a> {
    pub(super) fn of(source: &'a str) -> Self {
        let (nfkd, classes) = (DecomposingNormalizerBorrowed::new_nfkd(), CanonicalCombiningClassMapBorrowed::new());
        let (mut characters, mut offsets) =
            (Vec::with_capacity(source.len() / 2), Vec::with_capacity(source.len() / 2));
        for (offset, character) in source.char_indices() {
            let mut push = |part: char| {
                let parts = part.to_lowercase().filter(|part| classes.get_u8(*part) == 0);
                characters.extend(parts);
                offsets.resize(characters.len(), offset);
            };
            match character {
                // Syllables of Hangul stay whole.
                '\0'..='\x7F' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' => push(character),
                _ => nfkd.normalize_iter([character].into_iter()).for_each(push),
            }
        }
        Self { source, characters, offsets }
    }

    fn runs(&self) -> impl Iterator<Item = &[char]> {
        let runs = self.characters.chunk_by(|one, next| CharClass::of(*one) == CharClass::of(*next));
        runs.filter(|run| CharClass::of(run[0]) != CharClass::Separator)
    }

    /// A hash of two beginnings of each run of letters, and of each other character, alone and with the next one.
    pub(super) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.runs().flat_map(|run| {
            let (sizes, count) =
                if is_letter(run[0]) { ([run.len().min(MIN_PREFIX), 2 * MIN_PREFIX], 1) } else { ([1, 2], run.len()) };
            sizes.into_iter().flat_map(move |size| run.windows(size).take(count)).map(hash)
        })
    }

    /// Where in the source a term is, as whole characters with their marks.
    fn find<'b>(&'b self, term: &'b [char]) -> impl Iterator<Item = Range<usize>> + 'b {
        let at = |position: usize| self.characters.get(position).is_some_and(|adjacent| is_letter(*adjacent));
        let begins = move |start: usize| {
            !is_letter(term[0]) || !(start > 0 && at(start - 1) || term.len() < MIN_PREFIX && at(start + term.len()))
        };
        let found = self.characters.windows(term.len()).enumerate();
        found.filter(move |(start, part)| *part == term && begins(*start)).map(move |(start, _)| {
            let (rest, last) = (&self.offsets[start + term.len()..], self.offsets[start + term.len() - 1]);
            self.offsets[start]..rest.iter().find(|end| **end > last).copied().unwrap_or(self.source.len())
        })
    }

    /// The surroundings of the first term in a text that has all, with each term enclosed by `[[` and `]]`.
    ///
    /// White space and control characters are single spaces, and `…` is where the text continues. `[[` and `]]` are
    /// always marks: where the text has two such brackets in a row, or one next to a mark, a space separates them.
    pub(super) fn snippet(&self, query: &ConversationQuery) -> Option<String> {
        let first: Vec<usize> =
            query.terms.iter().map(|term| Some(self.find(term).next()?.start)).collect::<Option<_>>()?;
        let before = &self.source[..first.into_iter().min()?];
        let start = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at);
        let end = self.source[start..].char_indices().nth(SNIPPET).map_or(self.source.len(), |(at, _)| start + at);
        let found = query.terms.iter().flat_map(|term| self.find(term).take_while(|found| found.start < end));
        let found: Vec<Range<usize>> = found.filter(|found| found.start >= start && found.end <= end).collect();
        let (mut snippet, mut in_mark) = (String::from(if start > 0 { "…" } else { "" }), false);
        for (at, character) in self.source[start..end].char_indices() {
            if found.iter().any(|found| found.contains(&(start + at))) != in_mark {
                push(&mut snippet, if in_mark { "]]" } else { "[[" });
                in_mark = !in_mark;
            }
            match character {
                space if space.is_whitespace() || space.is_control() => {
                    snippet.push_str(if snippet.ends_with(' ') { "" } else { " " });
                }
                character => push(&mut snippet, character.encode_utf8(&mut [0; 4])),
            }
        }
        snippet.push_str(if in_mark { "]]" } else { "" });
        snippet.push_str(if end < self.source.len() { "…" } else { "" });
        Some(snippet)
    }
}

/// Appends text; a space separates a bracket from the same one before it.
fn push(snippet: &mut String, text: &str) {
    let is_same = text.starts_with(['[', ']']) && snippet.ends_with(&text[..1]);
    snippet.push_str(if is_same { " " } else { "" });
    snippet.push_str(text);
}

fn is_letter(character: char) -> bool {
    CharClass::of(character) == CharClass::Letter
}

/// FNV-1a over characters, mixed once more. Stored digests depend on it.
fn hash(term: &[char]) -> u64 {
    let fold = |hash: u64, character: &char| (hash ^ u64::from(*character)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = term.iter().fold(0xcbf2_9ce4_8422_2325, fold);
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn snippet(text: &str, query: &str) -> Option<String> {
        SearchText::of(text).snippet(&ConversationQuery::parse(query).unwrap())
    }

    fn finds(query: &str, text: &str) -> bool {
        snippet(text, query).is_some()
    }

    #[test]
    fn text_needs_all_terms_in_any_order() {
        assert!(finds("Rust 异步", "写异步的 RUST。"));
        assert!(finds("Rust异步", "异步 rust"));
        assert!(!finds("Rust 异步", "同步的 Rust"));
        assert!(finds("a b", "b_a") && finds("🚀 foo", "foo-bar 🚀!"));
    }

    #[test]
    fn letters_match_at_their_beginning_and_characters_anywhere() {
        assert!(finds("art", "start art") && finds("lamb", "AWS Lambda") && finds("приве", "Приветствие"));
        assert!(!finds("art", "start smart") && !finds("lambdas", "lambda"));
        assert!(finds("ai", "an AI") && !finds("ai", "aim") && !finds("a", "an"));
        assert!(finds("绿茶", "一杯绿茶好") && finds("茶", "绿茶"));
        assert!(!finds("绿茶", "绿色的茶") && !finds("绿茶", "绿 茶"));
    }

    #[test]
    fn forms_of_one_text_are_equal() {
        for (one, other) in [
            ("Ｒｕｓｔ　２０２６", "rust 2026"),
            ("CAFE\u{301}", "café"),
            ("Cafe", "café"),
            ("ﬁn ㍻", "fin 平成"),
            ("ｶﾞ", "ガ"),
            ("İstanbul", "istanbul"),
        ] {
            assert!(finds(one, other) && finds(other, one), "{one}");
        }
        assert!(finds("한글", "한글은") && !finds("한글", "하늘"));
    }

    #[test]
    fn query_needs_a_term_and_is_bounded() {
        for none in ["", " \t", "!?，。…", "\u{0}\u{7}", "\u{301}", &"a".repeat(201), &"茶".repeat(10_000)] {
            assert!(ConversationQuery::parse(none).is_none(), "{none}");
        }
        assert!(ConversationQuery::parse(&"茶".repeat(200)).is_some());
    }

    #[test]
    fn found_terms_are_enclosed() {
        assert_eq!(snippet("学 Rust 的异步。", "rust 异步").as_deref(), Some("学 [[Rust]] 的[[异步]]。"));
        assert_eq!(snippet("Ｒｕｓｔ\n\n and\trust", "rust").as_deref(), Some("[[Ｒｕｓｔ]] and [[rust]]"));
        assert_eq!(snippet("异步运行", "异步 步运").as_deref(), Some("[[异步运]]行"));
        assert_eq!(snippet("e\u{301}! ㍻元年", "é 平").as_deref(), Some("[[e\u{301}]]! [[㍻]]元年"));
        assert_eq!(snippet("a[[b]] [c] [[[x", "c").as_deref(), Some("a[ [b] ] [ [[c]] ] [ [ [x"));
    }

    #[test]
    fn long_text_is_cut_around_first_term() {
        let text = format!("{}甲{}乙", "前".repeat(50), "中".repeat(500));
        assert_eq!(snippet(&text, "乙 甲").unwrap(), format!("…{}[[甲]]{}…", "前".repeat(40), "中".repeat(159)));
    }

    proptest! {
        #[test]
        fn snippet_has_only_its_own_marks(before in ".{0,90}", after in "[\\[\\]a茶 ]{0,90}") {
            let found = snippet(&format!("{before}茶{after}"), "茶").unwrap();
            prop_assert_eq!(found.matches("[[").count(), found.matches("]]").count());
            prop_assert!(found.contains("[[茶") && found.chars().count() < 800);
        }
    }
}
