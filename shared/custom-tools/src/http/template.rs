//! URL templates with slots for parameters.

use std::fmt::Write as _;

use egress::Policy;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use url::Url;

const MAX_TEMPLATE_BYTES: usize = 2048;

/// All bytes except letters, digits and `-_.~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A URL whose path and query may hold `{parameter}`; its scheme, host and port are fixed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UrlTemplate {
    pieces: Vec<Piece>,
    /// The URL with a letter in every slot; every filled URL must match its structure.
    sample: Url,
}

/// A fixed text or a slot of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Slot { name: String, in_query: bool },
}

impl UrlTemplate {
    /// Parses a template; the error describes what is accepted.
    pub(crate) fn parse(text: &str, policy: Policy) -> Result<Self, String> {
        if text.len() > MAX_TEMPLATE_BYTES
            || text.bytes().any(|byte| byte <= b' ' || byte == 0x7f || b"\\#".contains(&byte))
        {
            return Err(format!("a URL of at most {MAX_TEMPLATE_BYTES} bytes without white space, `\\` and `#`"));
        }
        let (_, rest) = text.split_once("://").ok_or("an absolute URL")?;
        let end = text.len() - rest.len() + rest.find(['/', '?']).unwrap_or(rest.len());
        if text[..end].contains(['{', '}', '%']) {
            return Err("a URL whose scheme, host and port are fixed text".to_owned());
        }
        let mut pieces = parse_pieces(text).ok_or("a URL whose places are written `{name}`")?;
        mark_query(&mut pieces);
        let sample: String =
            pieces.iter().map(|piece| if let Piece::Text(text) = piece { text } else { "x" }).collect();
        let sample = policy.parse(&sample).map_err(|refusal| format!("a URL of an allowed host; {refusal}"))?;
        Ok(Self { pieces, sample })
    }

    /// Returns the names of the slots in the path, which cannot be left empty.
    pub(crate) fn path_slots(&self) -> impl Iterator<Item = &str> {
        self.slots().filter(|(_, in_query)| !in_query).map(|(name, _)| name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.slots().map(|(name, _)| name)
    }

    fn slots(&self) -> impl Iterator<Item = (&str, bool)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot { name, in_query } => Some((name.as_str(), *in_query)),
            Piece::Text(_) => None,
        })
    }

    /// Fills the slots with the arguments and appends `query`; `None` if a value in the path is empty, `.` or `..`.
    pub(crate) fn fill(&self, arguments: &Map<String, Value>, query: &[(String, String)]) -> Option<Url> {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot { name, .. } => {
                    filled.push_str(&percent_encode(&arguments.get(name).map(to_text).unwrap_or_default()));
                }
            }
        }
        let mut separator = if self.sample.query().is_some() { '&' } else { '?' };
        for (name, value) in query {
            let _ = write!(filled, "{separator}{}={}", percent_encode(name), percent_encode(value));
            separator = '&';
        }
        Url::parse(&filled).ok().filter(|url| self.matches_sample(url))
    }

    /// Whether a filled URL has the same origin and the same number of path segments, none of them empty in a slot.
    fn matches_sample(&self, url: &Url) -> bool {
        let parts = |url: &Url| url.path().split('/').map(str::is_empty).collect::<Vec<_>>();
        url.origin() == self.sample.origin() && parts(url) == parts(&self.sample) && url.fragment().is_none()
    }
}

/// Splits a text at its `{name}`s; `None` if braces do not match or contain no name.
pub(crate) fn parse_pieces(text: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after_slot) = after.split_once('}')?;
        if before.contains('}') || !is_name(name) {
            return None;
        }
        pieces.push(Piece::Text(before.to_owned()));
        pieces.push(Piece::Slot { name: name.to_owned(), in_query: false });
        rest = after_slot;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    (!rest.contains('}')).then_some(pieces)
}

fn mark_query(pieces: &mut [Piece]) {
    let mut query = false;
    for piece in pieces {
        match piece {
            Piece::Text(text) => query |= text.contains('?'),
            Piece::Slot { in_query, .. } => *in_query = query,
        }
    }
}

/// Whether a parameter may have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(letters)
}

/// Percent-encodes all bytes except letters, digits and `-_.~`.
pub(crate) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Formats a value for a URL or a header: text unchanged, lists joined by commas, objects as JSON.
pub(crate) fn to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(to_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Formats a parameter for a query: a list is one pair for each item.
pub(crate) fn query_pairs(name: &str, value: &Value) -> Vec<(String, String)> {
    let pair = |value: &Value| (name.to_owned(), to_text(value));
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().map(pair).collect(),
        other => vec![pair(other)],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn template(text: &str) -> UrlTemplate {
        UrlTemplate::parse(text, Policy::public()).unwrap()
    }

    fn filled(text: &str, value: &str) -> Option<String> {
        let arguments = Map::from_iter([("x".to_owned(), json!(value))]);
        template(text).fill(&arguments, &[]).map(String::from)
    }

    #[test]
    fn f130_value_stays_in_its_slot() {
        for (value, expected) in [
            ("a b", "a%20b"),
            ("a/b", "a%2Fb"),
            ("../..", "..%2F.."),
            ("//evil.example", "%2F%2Fevil.example"),
            ("\\evil", "%5Cevil"),
            ("@evil.example", "%40evil.example"),
            ("#x?y&z=1", "%23x%3Fy%26z%3D1"),
            ("a\r\nHost: b\0", "a%0D%0AHost%3A%20b%00"),
            ("%2e%2e", "%252e%252e"),
            ("{x}", "%7Bx%7D"),
            ("汉", "%E6%B1%89"),
        ] {
            let path = filled("https://api.example.com/a/{x}/b?c=d", value);
            assert_eq!(path, Some(format!("https://api.example.com/a/{expected}/b?c=d")));
            let query = filled("https://api.example.com/a?c={x}&d=e", value);
            assert_eq!(query, Some(format!("https://api.example.com/a?c={expected}&d=e")));
        }
    }

    #[test]
    fn f130_dot_segment_in_path_is_rejected() {
        for value in ["", ".", ".."] {
            assert!(filled("https://api.example.com/a/{x}/b", value).is_none(), "{value}");
            assert!(filled("https://api.example.com/a/{x}", value).is_none(), "{value}");
        }
        assert!(filled("https://api.example.com/a/.{x}/b", ".").is_none());
        assert!(filled("https://api.example.com/a/%2e{x}/b", ".").is_none());
        assert!(filled("https://api.example.com/a?b={x}", "..").is_some());
    }

    #[test]
    fn f130_the_host_is_fixed_text_and_public() {
        for text in [
            "https://{x}/a",
            "https://{x}.example.com/",
            "https://example.com:{x}/",
            "{x}://example.com/",
            "{x}",
            "https://example.com{x}/",
            "https://user:{x}@example.com/",
            "https://%7Bx%7D.example.com/",
            "/a/{x}",
            "http://example.com/",
            "https://127.0.0.1/{x}",
            "https://localhost/",
            "https://example.com:8443/",
            "https://u@example.com/",
            "https://example.com/#{x}",
            "https://example.com/\\{x}",
            "https://example.com/{",
            "https://example.com/}",
            "https://example.com/{}",
            "https://example.com/{a b}",
            "https://example.com/{{x}}",
            "https://example.com/a b",
            "https://example.com/\n",
            "https:example.com/{x}",
            "javascript:alert(1)",
            "",
        ] {
            assert!(UrlTemplate::parse(text, Policy::public()).is_err(), "{text}");
        }
    }

    #[test]
    fn other_parameters_are_appended_to_the_query() {
        let query = [("q".to_owned(), "a&b".to_owned()), ("n m".to_owned(), "1".to_owned())];
        let fill = |text: &str| String::from(template(text).fill(&Map::new(), &query).unwrap());
        assert_eq!(fill("https://api.example.com/a"), "https://api.example.com/a?q=a%26b&n%20m=1");
        assert_eq!(fill("https://api.example.com/a?v=1"), "https://api.example.com/a?v=1&q=a%26b&n%20m=1");
    }

    proptest! {
        #[test]
        fn f130_no_value_changes_text_outside_its_slot(value in any::<String>(), text in "[./\\\\@#?%:&=a-f0-9\r\n]{0,12}") {
            for value in [value, text] {
                let Some(url) = filled("https://api.example.com/a/{x}/b?c={x}&d=e", &value) else { continue };
                let url = Url::parse(&url).unwrap();
                prop_assert_eq!(url.origin().ascii_serialization(), "https://api.example.com");
                prop_assert_eq!(url.path_segments().map(Iterator::count), Some(3));
                let query: Vec<_> = url.query_pairs().collect();
                prop_assert_eq!(query, [("c".into(), value.as_str().into()), ("d".into(), "e".into())]);
                prop_assert!(url.fragment().is_none() && url.username().is_empty());
            }
        }
    }
}
