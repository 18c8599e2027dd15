//! The head of a streamed response: a JSON document, eight NUL bytes, then the body.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The separator between head and body.
const END: [u8; 8] = [0; 8];

/// Status and headers of a response.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Head {
    #[serde(rename = "statusCode")]
    pub(crate) status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// The response does not begin with a valid head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoHead;

impl Head {
    /// Parses a head; returns it with its length, or `None` while it is incomplete.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, NoHead> {
        let Some(end) = bytes.windows(END.len()).position(|window| window == END) else { return Ok(None) };
        let (document, _) = bytes.split_at(end);
        let head = serde_json::from_slice(document).map_err(|_| NoHead)?;
        Ok(Some((head, end + END.len())))
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
        let whole = [text.as_bytes(), &END, b"body"].concat();
        for at in 0..text.len() + END.len() {
            assert_eq!(Head::read(&whole[..at]), Ok(None));
        }
        let (head, length) = Head::read(&whole).unwrap().unwrap();
        assert_eq!((head.status, head.content_type()), (200, "text/event-stream"));
        assert_eq!(&whole[length..], b"body");
    }

    #[test]
    fn invalid_head_is_rejected() {
        assert_eq!(Head::read(b"plain text\0\0\0\0\0\0\0\0"), Err(NoHead));
        assert_eq!(Head::read(br#"{"errorMessage":"x"}"#), Ok(None));
    }
}
