//! Elements whose content is reasoning.

use crate::markers::Match;

const ELEMENTS: [&str; 9] = [
    "think",
    "thinking",
    "seed:think",
    "mm:think",
    "longcat_think",
    "ifm|think",
    "ifm|think_fast",
    "ifm|think_faster",
    INNER,
];
/// The element that is nested in another one.
const INNER: &str = "seed:cot_budget_reflect";
/// An element of Doubao models, continued by digits that differ between models.
const NUMBERED: &str = "think_never_used_";
/// Maximum length of the number after [`NUMBERED`], of a suffix, and of blanks before `>`, in bytes.
const MAX_NUMBER_BYTES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThinkingTag {
    pub(super) opens: bool,
    pub(super) inner: bool,
    pub(super) numbered: bool,
}

pub(super) fn match_tag(text: &str) -> Match<ThinkingTag> {
    let Some(rest) = text.strip_prefix('<') else { return Match::None };
    let name = rest.strip_prefix('/').unwrap_or(rest);
    let opens = name.len() == rest.len();
    let offset = text.len() - name.len();
    match_name(name).map(|(inner, numbered)| ThinkingTag { opens, inner, numbered }).after(offset)
}

/// Matches the name of an element including `>`; returns whether it is the inner one, and whether it has a number.
fn match_name(text: &str) -> Match<(bool, bool)> {
    let mut is_short = starts_with(NUMBERED, text);
    for element in ELEMENTS {
        if starts_with(text, element) {
            match match_tag_end(&text[element.len()..]) {
                Match::Full((), length) => return Match::Full((element == INNER, false), element.len() + length),
                Match::Partial => is_short = true,
                Match::None => {}
            }
        }
        is_short |= starts_with(element, text);
    }
    if !starts_with(text, NUMBERED) {
        return if is_short { Match::Partial } else { Match::None };
    }
    let number = &text[NUMBERED.len()..];
    let digits = number.len() - number.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
    match number[digits..].chars().next() {
        Some('>') if digits <= MAX_NUMBER_BYTES => Match::Full((false, true), NUMBERED.len() + digits + 1),
        None if digits <= MAX_NUMBER_BYTES => Match::Partial,
        _ => Match::None,
    }
}

/// Matches the end of a tag: `>` with blanks before it, or with a suffix, as in `<think:6124c78e>`.
fn match_tag_end(text: &str) -> Match<()> {
    let is_suffix = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    for (at, byte) in text.bytes().enumerate().take(MAX_NUMBER_BYTES) {
        match byte {
            b'>' => return Match::Full((), at + 1),
            b':' if at == 0 => {}
            b' ' | b'\t' if text.starts_with([' ', '\t']) => {}
            _ if text.starts_with(':') && is_suffix(byte) => {}
            _ => return Match::None,
        }
    }
    if text.len() < MAX_NUMBER_BYTES { Match::Partial } else { Match::None }
}

/// Whether a text starts with this one, in any case.
fn starts_with(text: &str, start: &str) -> bool {
    text.len() >= start.len() && text.as_bytes()[..start.len()].eq_ignore_ascii_case(start.as_bytes())
}
