//! The head of a streamed response: a JSON document, eight NUL bytes, then the body.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The separator between head and body.
const SEPARATOR: [u8; 8] = [0; 8];

/// Status and headers of a response.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct ResponseHead {
    #[serde(rename = "statusCode")]
    pub(crate) status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl ResponseHead {
    /// Parses a head; returns it with its length, or `None` while it is incomplete.
    pub(crate) fn parse(bytes: &[u8]) -> serde_json::Result<Option<(Self, usize)>> {
        let Some(end) = bytes.windows(SEPARATOR.len()).position(|window| window == SEPARATOR) else { return Ok(None) };
        let (document, _) = bytes.split_at(end);
        Ok(Some((serde_json::from_slice(document)?, end + SEPARATOR.len())))
    }

    pub(crate) fn content_type(&self) -> &str {
        let header = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        header.map(|(_, value)| value.as_str()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_parses_once_complete() {
        let text = r#"{"statusCode":200,"headers":{"Content-Type":"text/event-stream"},"cookies":[]}"#;
        let whole = [text.as_bytes(), &SEPARATOR, b"body"].concat();
        for at in 0..text.len() + SEPARATOR.len() {
            assert_eq!(ResponseHead::parse(&whole[..at]).unwrap(), None);
        }
        let (head, length) = ResponseHead::parse(&whole).unwrap().unwrap();
        assert_eq!((head.status, head.content_type()), (200, "text/event-stream"));
        assert_eq!(&whole[length..], b"body");
    }

    #[test]
    fn invalid_head_is_rejected() {
        assert!(ResponseHead::parse(b"plain text\0\0\0\0\0\0\0\0").is_err());
        assert_eq!(ResponseHead::parse(br#"{"errorMessage":"x"}"#).unwrap(), None);
    }
}
