//! End tags of elements that are named after a tool or a parameter.

use crate::markers::Match;

/// Maximum number of blanks before and after the name.
const MAX_BLANKS: usize = 8;
/// Maximum length of the name in an end tag that closes nothing, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Matches `</name>` at the beginning of a text, with blanks around the name.
pub(super) fn match_end_tag(text: &str, name: &str) -> Match<()> {
    match_parts(text, &["</", "", name, "", ">"])
}

/// Matches the parts; an empty one is for blanks.
fn match_parts(text: &str, parts: &[&str]) -> Match<()> {
    let mut at = 0;
    for part in parts {
        let rest = &text[at..];
        if part.is_empty() {
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
            if blanks > MAX_BLANKS {
                return Match::None;
            }
            at += blanks;
        } else if rest.starts_with(part) {
            at += part.len();
        } else {
            return if part.starts_with(rest) { Match::Partial } else { Match::None };
        }
    }
    Match::Full((), at)
}

pub(super) fn match_other_end_tag(text: &str) -> Match<()> {
    let Some(inside) = text.strip_prefix("</") else {
        return if "</".starts_with(text) { Match::Partial } else { Match::None };
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '\n');
    match inside.find(|c| !is_name(c)) {
        Some(end) if inside[end..].starts_with('>') && end <= MAX_NAME_BYTES => Match::Full((), end + 3),
        None if inside.len() <= MAX_NAME_BYTES => Match::Partial,
        _ => Match::None,
    }
}

/// Finds the first end tag of this name at or after `from`: where it begins and ends. Without one the error is the position
/// at which to resume when more text arrives.
pub(super) fn find_end_tag(text: &str, from: usize, name: &str) -> Result<(usize, usize), usize> {
    let mut at = from;
    while let Some(found) = text[at..].find('<') {
        at += found;
        match match_end_tag(&text[at..], name) {
            Match::Full((), length) => return Ok((at, at + length)),
            Match::Partial => return Err(at),
            Match::None => at += 1,
        }
    }
    Err(text.len())
}

/// A section of literal text with which a value may begin: `<![CDATA[…]]>`.
#[derive(Default)]
pub(super) struct LiteralSection {
    /// Known at the first marker in the value.
    is_open: Option<bool>,
    /// Before this position it has no end.
    searched: usize,
}

impl LiteralSection {
    pub(super) fn is_open_at(&mut self, text: &str, start: usize, end: usize) -> bool {
        const END: &str = "]]>";
        let begins = || text[start..end].trim_start().starts_with("<![CDATA[");
        let is_open = self.is_open.get_or_insert_with(begins);
        if *is_open {
            *is_open = !text[self.searched.max(start)..end].contains(END);
            self.searched = text.floor_char_boundary(end.saturating_sub(END.len()));
        }
        *is_open
    }
}

#[cfg(test)]
mod tests {
    use super::{find_end_tag, match_end_tag, match_other_end_tag};
    use crate::markers::Match;

    #[test]
    fn end_tag_matches_with_blanks() {
        for text in ["</f>", "</ f>", "</f >", "</ \n f\t>"] {
            assert_eq!(match_end_tag(text, "f"), Match::Full((), text.len()), "{text}");
            for end in 0..text.len() {
                assert_eq!(match_end_tag(&text[..end], "f"), Match::Partial, "{text} {end}");
            }
        }
        for text in ["<f>", "</g>", "</fg>", "</f x>", "</         f>"] {
            assert_eq!(match_end_tag(text, "f"), Match::None, "{text}");
        }
    }

    #[test]
    fn end_tag_of_any_name_matches() {
        assert_eq!(match_other_end_tag("</a-b>x"), Match::Full((), 6));
        assert_eq!(match_other_end_tag("</a"), Match::Partial);
        assert_eq!(match_other_end_tag("<a>"), Match::None);
        assert_eq!(match_other_end_tag("</a\">"), Match::None);
    }

    #[test]
    fn first_end_tag_of_the_name_is_found() {
        assert_eq!(find_end_tag("a < b </g></f>x", 0, "f"), Ok((10, 14)));
        assert_eq!(find_end_tag("a </", 0, "f"), Err(2));
        assert_eq!(find_end_tag("a > b", 0, "f"), Err(5));
    }
}
