use crate::markers::Look;

/// Maximum length of a tag's attributes, in bytes.
const MAX_ATTRIBUTES: usize = 512;
/// Maximum length of a tool's or parameter's name, in bytes.
const MAX_NAME: usize = 256;

/// The attributes of a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    /// The tool's or the parameter's name.
    pub(super) name: Option<String>,
    /// The value of the attribute `string`.
    pub(super) string: Option<bool>,
    /// Whether the tag ended in `/>`.
    pub(super) empty: bool,
}

/// Reads `name="f" string="true">` at the beginning of a text, including the `>`.
pub(super) fn attributes(text: &str) -> Look<Attributes> {
    let mut found = Attributes::default();
    let mut at = 0;
    loop {
        at += space(&text[at..]);
        let rest = &text[at..];
        if at > MAX_ATTRIBUTES {
            return Look::No;
        }
        if rest.starts_with('>') {
            return Look::Is(found, at + 1);
        }
        if rest.starts_with("/>") {
            found.empty = true;
            return Look::Is(found, at + 2);
        }
        match attribute(rest) {
            Look::Is((key, value), length) => {
                at += length;
                match key {
                    "name" => found.name = Some(value.trim().to_owned()).filter(|name| !name.is_empty()),
                    "string" => found.string = Some(value.eq_ignore_ascii_case("true")),
                    _ => {}
                }
            }
            Look::Short if text.len() <= MAX_ATTRIBUTES => return Look::Short,
            _ => return Look::No,
        }
    }
}

/// Reads `key="value"` at the beginning of a text.
fn attribute(text: &str) -> Look<(&str, &str)> {
    let key = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len());
    let rest = &text[key..];
    let Some(rest) = rest.strip_prefix('=') else {
        let short = rest.is_empty() || (key == 0 && rest == "/");
        return if short { Look::Short } else { Look::No };
    };
    let Some(quote) = rest.chars().next() else { return Look::Short };
    if key == 0 || !matches!(quote, '"' | '\'') {
        return Look::No;
    }
    match rest[1..].find([quote, '<', '\n']) {
        Some(end) if rest[1 + end..].starts_with(quote) => Look::Is((&text[..key], &rest[1..=end]), key + end + 3),
        Some(_) => Look::No,
        None => Look::Short,
    }
}

/// Reads `f>` at the beginning of a text: a name including the `>`, without quotes around it. Also returns whether the
/// tag ended in `/>`.
pub(super) fn name(text: &str) -> Look<(String, bool)> {
    match text.find(['>', '<', '\n']) {
        Some(end) if text[end..].starts_with('>') => {
            let tag = text[..end].trim();
            let name = tag.strip_suffix('/').unwrap_or(tag).trim_matches(['"', '\'', ' ']);
            let readable = !name.is_empty() && end <= MAX_NAME;
            if readable { Look::Is((name.to_owned(), tag.ends_with('/')), end + 1) } else { Look::No }
        }
        None if text.len() <= MAX_NAME => Look::Short,
        _ => Look::No,
    }
}

/// The length of the white space at the beginning of a text, in bytes.
pub(super) fn space(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

#[cfg(test)]
mod tests {
    use super::{Attributes, attributes, name};
    use crate::markers::Look;

    fn named(name: &str, string: Option<bool>) -> Attributes {
        Attributes { name: Some(name.to_owned()), string, empty: false }
    }

    #[test]
    fn attributes_end_with_the_tag() {
        assert_eq!(attributes("name=\"f\">x"), Look::Is(named("f", None), 9));
        assert_eq!(attributes("id='1'  name='q' string='true' >"), Look::Is(named("q", Some(true)), 32));
        assert_eq!(attributes("name=\"f\"/>"), Look::Is(Attributes { empty: true, ..named("f", None) }, 10));
    }

    #[test]
    fn partial_attributes_need_more_text() {
        let text = "name=\"f\" string=\"false\"/>";
        for end in 0..text.len() {
            assert_eq!(attributes(&text[..end]), Look::Short, "{end}");
        }
    }

    #[test]
    fn prose_in_tag_is_not_an_attribute() {
        assert_eq!(attributes("name>"), Look::No);
        assert_eq!(attributes("call with a"), Look::No);
        assert_eq!(attributes("name=x>"), Look::No);
    }

    #[test]
    fn name_ends_with_the_tag() {
        assert_eq!(name("\"f\">"), Look::Is(("f".to_owned(), false), 4));
        assert_eq!(name("f/>"), Look::Is(("f".to_owned(), true), 3));
        assert_eq!(name("get_weath"), Look::Short);
        assert_eq!(name("f\n>"), Look::No);
        assert_eq!(name(">"), Look::No);
    }
}
