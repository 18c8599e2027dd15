//! The answer of `ListObjectsV2`.
//!
//! Source: Amazon S3 API reference, `ListObjectsV2`. With `encoding-type=url` keys are percent-encoded, because XML cannot
//! contain all characters of a key.

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};

use super::fault::SyncFault;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Page {
    is_truncated: bool,
    next_continuation_token: Option<String>,
    #[serde(default, rename = "Contents")]
    pub(super) objects: Vec<ListedObject>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ListedObject {
    #[serde(deserialize_with = "read_key")]
    pub(super) key: String,
    /// With its quotes.
    #[serde(rename = "ETag", deserialize_with = "read_etag")]
    pub(super) etag: String,
    #[serde(rename = "Size")]
    pub(super) bytes: u64,
    pub(super) last_modified: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ServiceError {
    code: String,
}

pub(super) fn read_page(body: &[u8]) -> Result<Page, SyncFault> {
    let is_complete = |page: &Page| !page.is_truncated || page.next_continuation_token.is_some();
    parse(body).filter(is_complete).ok_or(SyncFault::Answer)
}

impl Page {
    /// Where the next page begins; `None` for the last one.
    pub(super) fn next(&self) -> Option<&str> {
        self.next_continuation_token.as_deref().filter(|_| self.is_truncated)
    }
}

fn read_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    // The form encoding of S3 writes a space as `+`.
    let text = String::deserialize(deserializer)?.replace('+', " ");
    decode(&text).ok_or_else(|| D::Error::custom("not percent-encoded"))
}

/// Reads an `ETag` that a header can have.
fn read_etag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if is_sendable { Ok(text) } else { Err(D::Error::custom("not an ETag")) }
}

/// Parses an XML document; `None` also for one with a document type, which S3 never sends: inside a text it makes the
/// deserializer panic.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    let text = std::str::from_utf8(body).ok()?;
    let has_type = text.match_indices("<!").any(|(at, _)| !text.get(at..).is_some_and(|rest| rest.starts_with("<!--")));
    if has_type { None } else { quick_xml::de::from_str(text).ok() }
}

/// The code of an error, without its message, which may quote data.
pub(super) fn error_code(body: &[u8]) -> String {
    let ServiceError { code } = parse(body).unwrap_or(ServiceError { code: String::new() });
    let is_code = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_code { code } else { String::new() }
}

/// All bytes except those that RFC 3986 calls unreserved: the form that signatures require.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text; a path keeps its slashes.
pub(super) fn encode(text: &str, is_path: bool) -> String {
    const PATH: &AsciiSet = &ENCODED.remove(b'/');
    utf8_percent_encode(text, if is_path { PATH } else { ENCODED }).to_string()
}

/// Decodes percent-encoded UTF-8; `None` for anything else.
fn decode(text: &str) -> Option<String> {
    let is_code = |part: &str| part.get(..2).is_some_and(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    text.split('%').skip(1).all(is_code).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>docs</Name><Prefix>a/</Prefix>
<NextContinuationToken>1/+==</NextContinuationToken><KeyCount>2</KeyCount><MaxKeys>2</MaxKeys>
<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
<Contents><Key>a/b%26+%E8%AE%A1.md</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified>
<ETag>&quot;fba9dede5f27731c9771645a39863328&quot;</ETag><Size>434234</Size><StorageClass>STANDARD</StorageClass></Contents>
<Contents><Key>a/</Key><LastModified>2009-10-12T17:50:30.000Z</LastModified><ETag>"e-2"</ETag><Size>0</Size></Contents>
</ListBucketResult>"#;

    #[test]
    fn page_has_decoded_keys_and_quoted_etags() {
        let page = read_page(PAGE.as_bytes()).unwrap();
        assert_eq!(page.next(), Some("1/+=="));
        let [first, second] = page.objects.try_into().unwrap();
        let last_modified = Timestamp::from_second(1_255_369_830).unwrap();
        let etag = "\"fba9dede5f27731c9771645a39863328\"".to_owned();
        assert_eq!(first, ListedObject { key: "a/b& 计.md".to_owned(), etag, bytes: 434_234, last_modified });
        assert_eq!((second.key.as_str(), second.etag.as_str()), ("a/", "\"e-2\""));
    }

    #[test]
    fn faulty_pages_are_rejected() {
        let last = PAGE.replace(">true<", ">false<");
        assert_eq!(read_page(last.as_bytes()).unwrap().next(), None);
        for (from, to) in [
            ("ListBucketResult>", "Other>"),
            ("<NextContinuationToken>1/+==</NextContinuationToken>", ""),
            ("434234", "-1"),
            ("2009-10-12T17", "yesterday"),
            ("%26", "%2"),
            ("%26", "%zz"),
            ("%E8%AE", "%E8"),
            ("&quot;fba9", "\n"),
            ("a/b%26", "a<!DOCTYPE x>b"),
        ] {
            let body = PAGE.replace(from, to);
            assert_ne!(body, PAGE);
            assert_eq!(read_page(body.as_bytes()), Err(SyncFault::Answer), "{from} as {to}");
        }
        for body in [b"".as_slice(), b"\xFF", b"<html>", b"<ListBucketResult/>"] {
            assert_eq!(read_page(body), Err(SyncFault::Answer));
        }
    }

    #[test]
    fn error_keeps_its_code_only() {
        let body = b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Message>canary</Message></Error>";
        assert_eq!(error_code(body), "AccessDenied");
        for body in ["<Error><Code>the canary sang</Code></Error>", "<html>", ""] {
            assert_eq!(error_code(body.as_bytes()), "");
        }
    }

    #[test]
    fn encoded_text_decodes_to_itself() {
        for text in ["a/b c+d%?&=#'()~*.md", "计划/é", ""] {
            assert_eq!(decode(&encode(text, true)).as_deref(), Some(text));
        }
        assert_eq!(encode("a/b c+计", false), "a%2Fb%20c%2B%E8%AE%A1");
    }
}
