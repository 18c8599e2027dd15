use crate::markers::Match;

const MAX_ATTRIBUTES_BYTES: usize = 512;
const MAX_NAME_BYTES: usize = 256;

/// What `GigaChat` 3 writes before a call.
pub(crate) const SECTION: &str = "function call<|role_sep|>";
pub(super) const TAG_END: &str = ">";
/// The end of a tag that Kimi K3 writes as control tokens.
pub(super) const TOKEN_END: &str = "<|sep|>";
/// The beginning of such a tag, before the name of the tool.
pub(super) const TOKEN_CALL: &str = "<|open|>call ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    /// The tool's or the parameter's name.
    pub(super) name: Option<String>,
    /// The value of the attribute `string`.
    pub(super) string: Option<bool>,
    /// Whether the tag ended in `/>`.
    pub(super) empty: bool,
}

/// Reads `name="f" string="true">` at the beginning of a text, including its end: [`TAG_END`] or
/// [`TOKEN_END`].
pub(super) fn read_attributes(text: &str, tag_end: &str) -> Match<Attributes> {
    let mut found = Attributes::default();
    let mut at = 0;
    loop {
        at += space_len(&text[at..]);
        let rest = &text[at..];
        if at > MAX_ATTRIBUTES_BYTES {
            return Match::None;
        }
        if rest.starts_with(tag_end) {
            return Match::Full(found, at + tag_end.len());
        }
        if tag_end.starts_with(rest) {
            return Match::Partial;
        }
        if rest.starts_with("/>") {
            found.empty = true;
            return Match::Full(found, at + 2);
        }
        match read_attribute(rest, tag_end == TOKEN_END) {
            Match::Full((key, value), length) => {
                at += length;
                match key {
                    "name" | "tool" | "key" => {
                        let name = value.trim();
                        let decoded = || name.replace("&quot;", "\"").replace("&amp;", "&");
                        let name = if tag_end == TOKEN_END { decoded() } else { name.to_owned() };
                        found.name = Some(name).filter(|name| !name.is_empty());
                    }
                    "string" => found.string = Some(value.eq_ignore_ascii_case("true")),
                    "type" => found.string = Some(value.eq_ignore_ascii_case("string")),
                    _ => {}
                }
            }
            Match::Partial if text.len() <= MAX_ATTRIBUTES_BYTES => return Match::Partial,
            _ => return Match::None,
        }
    }
}

/// Reads `key="value"` at the beginning of a text. Only in a tag of tokens a value may contain `<`.
fn read_attribute(text: &str, in_tokens: bool) -> Match<(&str, &str)> {
    let key = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len());
    let rest = &text[key..];
    let Some(rest) = rest.strip_prefix('=') else {
        let short = rest.is_empty() || (key == 0 && rest == "/");
        return if short { Match::Partial } else { Match::None };
    };
    let Some(quote) = rest.chars().next() else { return Match::Partial };
    if key == 0 || !matches!(quote, '"' | '\'') {
        return Match::None;
    }
    match rest[1..].find(|c| c == quote || c == '\n' || (c == '<' && !in_tokens)) {
        Some(end) if rest[1 + end..].starts_with(quote) => Match::Full((&text[..key], &rest[1..=end]), key + end + 3),
        Some(_) => Match::None,
        None => Match::Partial,
    }
}

/// Reads `f>` at the beginning of a text: a name including the `>`, without quotes around it. Also returns whether the
/// tag ended in `/>`.
pub(super) fn read_name(text: &str) -> Match<(String, bool)> {
    match text.find(['>', '<', '\n']) {
        Some(end) if text[end..].starts_with('>') => {
            let tag = text[..end].trim();
            let name = tag.strip_suffix('/').unwrap_or(tag).trim_matches(['"', '\'', ' ']);
            let readable = !name.is_empty() && end <= MAX_NAME_BYTES;
            if readable { Match::Full((name.to_owned(), tag.ends_with('/')), end + 1) } else { Match::None }
        }
        None if text.len() <= MAX_NAME_BYTES => Match::Partial,
        _ => Match::None,
    }
}

/// The length of the white space at the beginning of a text, in bytes.
pub(super) fn space_len(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

#[cfg(test)]
mod tests {
    use super::{Attributes, TAG_END, TOKEN_END, read_attributes, read_name};
    use crate::markers::Match;

    fn named(name: &str, string: Option<bool>) -> Attributes {
        Attributes { name: Some(name.to_owned()), string, empty: false }
    }

    #[test]
    fn attributes_end_with_the_tag() {
        assert_eq!(read_attributes("name=\"f\">x", TAG_END), Match::Full(named("f", None), 9));
        assert_eq!(
            read_attributes("id='1'  name='q' string='true' >", TAG_END),
            Match::Full(named("q", Some(true)), 32)
        );
        assert_eq!(
            read_attributes("name=\"f\"/>", TAG_END),
            Match::Full(Attributes { empty: true, ..named("f", None) }, 10)
        );
    }

    #[test]
    fn tag_of_tokens_ends_with_its_token() {
        let found = Attributes { name: Some("f".to_owned()), ..Attributes::default() };
        assert_eq!(read_attributes("tool=\"f\" index=\"1\"<|sep|>{", TOKEN_END), Match::Full(found, 25));
        assert_eq!(read_attributes("tool=\"f\"<|s", TOKEN_END), Match::Partial);
        assert_eq!(read_attributes("tool=\"f\"<|s", TAG_END), Match::None);
    }

    #[test]
    fn partial_attributes_need_more_text() {
        let text = "name=\"f\" string=\"false\"/>";
        for end in 0..text.len() {
            assert_eq!(read_attributes(&text[..end], TAG_END), Match::Partial, "{end}");
        }
    }

    #[test]
    fn prose_in_tag_is_not_an_attribute() {
        assert_eq!(read_attributes("name>", TAG_END), Match::None);
        assert_eq!(read_attributes("call with a", TAG_END), Match::None);
        assert_eq!(read_attributes("name=x>", TAG_END), Match::None);
    }

    #[test]
    fn name_ends_with_the_tag() {
        assert_eq!(read_name("\"f\">"), Match::Full(("f".to_owned(), false), 4));
        assert_eq!(read_name("f/>"), Match::Full(("f".to_owned(), true), 3));
        assert_eq!(read_name("get_weath"), Match::Partial);
        assert_eq!(read_name("f\n>"), Match::None);
        assert_eq!(read_name(">"), Match::None);
    }
}
