//! The end of a function after markup of no known format.

use crate::markers::{CLOSERS, Match, OPENERS};

/// Maximum size of markup of no known format in a function, in bytes.
const MAX_MARKUP_BYTES: usize = 1024;

/// Whether the text is markup up to the end of a function or a wrapper, with no other call before that.
pub(super) fn find_closer_after_markup(text: &str) -> Match<()> {
    if !text.starts_with('<') {
        return Match::None;
    }
    let limit = text.floor_char_boundary(MAX_MARKUP_BYTES);
    let mut at = 0;
    while let Some(found) = text[at..limit].find(['<', '[']) {
        at += found;
        match (CLOSERS.match_prefix(&text[at..]), OPENERS.match_prefix(&text[at..])) {
            (Match::Full(_, length), _) => return Match::Full((), at + length),
            (_, Match::Full(..)) => return Match::None,
            (Match::Partial, _) | (_, Match::Partial) => return Match::Partial,
            (Match::None, Match::None) => at += 1,
        }
    }
    if limit < text.len() { Match::None } else { Match::Partial }
}
