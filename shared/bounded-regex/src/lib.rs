//! Regular expressions that users write: bounded in size and nesting, matched in time linear in the text.
//!
//! The syntax is that of the `regex-lite` crate, which the SDK of AWS brings, and `\p{…}` for scripts. `\d`, `\s`, `\w`, `\b`
//! and `(?i)` are ASCII only; the first four also in JSON Schema (ECMA-262): `\bE\d+` matches within `工号E12`, and `\d`
//! matches no digit of another script.

mod scripts;

pub use regex_lite::Regex;
use regex_lite::RegexBuilder;

/// Deepest nesting of groups, repetitions and classes.
const MAX_NESTING: u32 = 50;

/// The limits of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest pattern, in bytes.
    pub max_bytes: usize,
    /// Largest compiled pattern, in bytes.
    pub max_compiled_bytes: usize,
}

/// Compiles a pattern; `None` if it is no regular expression or exceeds a limit.
pub fn compile(pattern: &str, limits: Limits) -> Option<Regex> {
    if pattern.len() > limits.max_bytes {
        return None;
    }
    RegexBuilder::new(&scripts::expand(pattern)?)
        .nest_limit(MAX_NESTING)
        .size_limit(limits.max_compiled_bytes)
        .build()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { max_bytes: 200, max_compiled_bytes: 32 * 1024 };

    fn is_match(pattern: &str, text: &str) -> bool {
        compile(pattern, LIMITS).unwrap().is_match(text)
    }

    #[test]
    fn perl_classes_and_word_boundaries_are_ascii() {
        for (pattern, text) in [
            (r"\bE\d{6}\b", "工号E123456的"),
            (r"^\w+$", "a_1"),
            (r"^\W$", "汉"),
            (r"^[\w.-]+$", "a.b-c"),
            (r"^[^\W_]$", "a"),
            (r"^\D\S$", "٣\u{a0}"),
            (r"^a\b{end}", "a汉"),
            (r"汉\B字", "汉字"),
            (r"(?x) ^ [\s a] \d $", " 1"),
            (r"^\\d$", r"\d"),
        ] {
            assert!(is_match(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [(r"\d", "٣"), (r"\w", "汉"), (r"\s", "\u{a0}"), (r"[\d]", "１"), (r"^\\d$", "1"), (r"[^\W_]", "_汉")]
        {
            assert!(!is_match(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn other_items_match_whole_unicode_characters() {
        for (pattern, text) in
            [("^.$", "汉"), (r"^\p{Han}{2}$", "汉字"), (r"^[a\p{sc=han}]+\P{Latin}$", "a汉,"), ("^[一-龥]+$", "汉字")]
        {
            assert!(is_match(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn f134_pattern_over_a_limit_is_rejected() {
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        for pattern in [&"a".repeat(200), r"\d{18}", r"\w{20}@\w{20}", r"^\S{1,10}$", &nested(50)] {
            assert!(compile(pattern, LIMITS).is_some(), "{pattern}");
        }
        for pattern in [&"a".repeat(201), "(a{99}){99}", r".{999}", r"\p{L}{99}", &nested(51), "(?=a)", r"(a)\1", "("] {
            assert!(compile(pattern, LIMITS).is_none(), "{pattern}");
        }
    }
}
