//! Texts that a file must contain to have any match.

use aho_corasick::{AhoCorasick, MatchKind};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Literal};

/// Maximum number of alternative literals.
const MAX_LITERALS: usize = 32;

/// ASCII texts of which each match of a pattern contains one.
///
/// In all encodings that are guessed, and in UTF-8, an ASCII text is the same bytes. So a file without these bytes has no
/// match, whichever of these encodings it has. UTF-16 is different.
#[derive(Debug)]
pub(super) struct RequiredLiterals {
    searcher: AhoCorasick,
}

/// Alternative texts in ASCII.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Alternatives {
    texts: Vec<Vec<u8>>,
    /// Whether the case of their letters does not count.
    ignores_case: bool,
}

impl RequiredLiterals {
    /// The literals of a pattern that is matched in lines; `None` if no literal is required.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let Alternatives { texts, ignores_case } = alternatives(pattern)?;
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostFirst).ascii_case_insensitive(ignores_case);
        Some(Self { searcher: builder.build(texts).ok()? })
    }

    /// Whether one of them is in a text of an encoding in which ASCII is the same bytes.
    pub(super) fn occur_in(&self, text: &[u8]) -> bool {
        self.searcher.is_match(text)
    }
}

fn alternatives(pattern: &str) -> Option<Alternatives> {
    let hir = ParserBuilder::new().multi_line(true).crlf(true).utf8(false).build().parse(pattern).ok()?;
    required(&hir)
}

/// The best literals of an expression.
fn required(hir: &Hir) -> Option<Alternatives> {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => required_in_sequence(std::slice::from_ref(hir)),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => required_in_sequence(parts),
        HirKind::Alternation(branches) => required_in_branches(branches),
        _ => None,
    }
}

/// The literals of all branches; `None` if a branch has none.
fn required_in_branches(branches: &[Hir]) -> Option<Alternatives> {
    let mut all = Alternatives::default();
    for branch in branches {
        let Alternatives { texts, ignores_case } = required(branch)?;
        all.texts.extend(texts);
        all.ignores_case |= ignores_case;
    }
    (all.texts.len() <= MAX_LITERALS).then_some(all)
}

/// The best literals of parts that follow each other.
fn required_in_sequence(parts: &[Hir]) -> Option<Alternatives> {
    let (mut best, mut run) = (None, Run::default());
    for part in parts {
        if !run.extend(part) {
            best = better(best, run.take());
            let within = if is_text(part) { None } else { required(part) };
            best = better(best, within);
        }
    }
    better(best, run.take())
}

fn is_text(part: &Hir) -> bool {
    matches!(part.kind(), HirKind::Literal(_) | HirKind::Class(_))
}

/// The one whose shortest text is longer; fewer texts if these are equally long.
fn better(one: Option<Alternatives>, other: Option<Alternatives>) -> Option<Alternatives> {
    let rank = |alternatives: &Alternatives| {
        let shortest = alternatives.texts.iter().map(Vec::len).min().unwrap_or_default();
        (shortest, std::cmp::Reverse(alternatives.texts.len()))
    };
    [one, other].into_iter().flatten().max_by_key(rank)
}

/// ASCII characters that follow each other in every match.
#[derive(Default)]
struct Run {
    longest: Alternatives,
    open: Alternatives,
    text: Vec<u8>,
}

impl Run {
    /// Adds a part; false if it is not only characters, or not only ASCII.
    fn extend(&mut self, part: &Hir) -> bool {
        // An assertion about the position has no length.
        if part.properties().maximum_len() == Some(0) {
            return true;
        }
        match part.kind() {
            HirKind::Literal(Literal(bytes)) if bytes.is_ascii() => {
                self.text.extend_from_slice(bytes);
                true
            }
            HirKind::Literal(Literal(bytes)) => {
                self.push_mixed(bytes);
                true
            }
            HirKind::Class(class) => letter_in_any_case(class).is_some_and(|letter| {
                self.text.push(letter);
                self.open.ignores_case = true;
                true
            }),
            HirKind::Capture(capture) => self.extend(&capture.sub),
            _ => false,
        }
    }

    /// Adds a text with other characters, which end what is open.
    fn push_mixed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if byte.is_ascii() {
                self.text.push(*byte);
            } else {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        let text = std::mem::take(&mut self.text);
        let open = Alternatives { texts: vec![text], ..std::mem::take(&mut self.open) };
        let longest = self.longest.texts.first().map_or(0, Vec::len);
        if open.texts.iter().any(|text| text.len() > longest) {
            self.longest = open;
        }
    }

    /// Ends the run; its longest text, if there is one.
    fn take(&mut self) -> Option<Alternatives> {
        self.close();
        Some(std::mem::take(&mut self.longest)).filter(|longest| !longest.texts.is_empty())
    }
}

/// The letter of a class that is an ASCII letter in both cases and nothing else.
fn letter_in_any_case(class: &Class) -> Option<u8> {
    let [upper, lower] = match class {
        Class::Unicode(class) => {
            let [upper, lower] = class.ranges() else { return None };
            let single = |start: char, end: char| (start == end).then(|| u8::try_from(start).ok()).flatten();
            [single(upper.start(), upper.end())?, single(lower.start(), lower.end())?]
        }
        Class::Bytes(class) => {
            let [upper, lower] = class.ranges() else { return None };
            let single = |start: u8, end: u8| (start == end).then_some(start);
            [single(upper.start(), upper.end())?, single(lower.start(), lower.end())?]
        }
    };
    (upper.is_ascii_uppercase() && upper.to_ascii_lowercase() == lower).then_some(lower)
}

#[cfg(test)]
mod tests {
    use encoding_rs::Encoding;

    use super::*;

    fn texts(pattern: &str) -> Option<(Vec<String>, bool)> {
        let Alternatives { texts, ignores_case } = alternatives(pattern)?;
        Some((texts.into_iter().map(|text| String::from_utf8(text).unwrap()).collect(), ignores_case))
    }

    #[test]
    fn every_match_contains_one_of_the_literals() {
        for (pattern, expected) in [
            ("needle-17", vec!["needle-17"]),
            ("^needle-17$", vec!["needle-17"]),
            (r"\bneedle\b-1", vec!["needle-1"]),
            (r"(needle)-(\d+)", vec!["needle-"]),
            ("a(bc)?def", vec!["def"]),
            ("(abc)+d", vec!["abc"]),
            ("(abc){0,3}d", vec!["d"]),
            ("needle-(100|211)$", vec!["needle-"]),
            ("foo|barbaz|qux", vec!["foo", "barbaz", "qux"]),
            (r"[A-Z]{3}-\d{4}", vec!["-"]),
            ("预算 needle é long text", vec![" long text"]),
            (r"x\.y\\z", vec![r"x.y\z"]),
            ("(?x) a b # c", vec!["ab"]),
        ] {
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(texts(pattern), Some((expected, false)), "{pattern}");
        }
        for pattern in ["预算", r"\w+", "a*", "a|", "(a|预)", "", "é|è", r"^\s*$", ".", "(?i)k", "[ab]c*"] {
            assert_eq!(texts(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn letters_with_other_forms_are_not_required() {
        // In lines in any case, K is also U+212A, and S is also U+017F.
        for (pattern, expected) in
            [("(?i)needle", "needle"), ("(?i)deposit", "depo"), ("(?i)book-1", "-1"), ("(?i)ab(?-i)CD", "abCD")]
        {
            let (texts, ignores_case) = texts(pattern).unwrap();
            let expected: Vec<&str> = vec![expected];
            if pattern == "(?i)book-1" {
                assert!(texts == ["boo"] || texts == expected, "{texts:?}");
            } else {
                assert_eq!((texts, ignores_case), (expected.into_iter().map(str::to_owned).collect(), true));
            }
        }
        let literals = RequiredLiterals::of("(?i)Needle").unwrap();
        assert!(literals.occur_in(b"a NEEDLE") && !literals.occur_in(b"a NEDLE"));
    }

    #[test]
    fn ascii_is_the_same_bytes_in_guessed_encodings() {
        let names = [
            "gbk",
            "gb18030",
            "big5",
            "shift_jis",
            "euc-jp",
            "euc-kr",
            "windows-1250",
            "windows-1251",
            "windows-1252",
            "windows-1253",
            "windows-1254",
            "windows-1255",
            "windows-1256",
            "windows-1257",
            "windows-1258",
            "windows-874",
            "iso-8859-2",
            "iso-8859-4",
            "iso-8859-5",
            "iso-8859-6",
            "iso-8859-7",
            "iso-8859-8",
            "iso-8859-13",
            "koi8-u",
            "ibm866",
            "utf-8",
        ];
        for name in names {
            let encoding = Encoding::for_label(name.as_bytes()).unwrap();
            for [first, second] in (0..=u16::MAX).map(u16::to_be_bytes) {
                let bytes = [first, second, b'a', b'~', first, b'b'];
                let text = encoding.decode_without_bom_handling(&bytes).0;
                for part in text.split(|c: char| !c.is_ascii()).filter(|part| !part.is_empty()) {
                    let is_there = bytes.windows(part.len()).any(|window| window == part.as_bytes());
                    assert!(is_there, "{name}: {bytes:?} is {text:?}");
                }
            }
        }
    }
}
