//! Files in the forms in which clients send them: a field of a form, and `data:` addresses.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use memchr::memmem;

/// Base64 with or without its padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The content of the field `file` of a form (RFC 7578), which must be the last one; `None` for another body.
pub(crate) fn form_file<'a>(content_type: &str, body: &'a [u8]) -> Option<&'a [u8]> {
    let parameters = content_type.strip_prefix("multipart/form-data")?;
    let boundary = parameters.split(';').find_map(|one| one.trim().strip_prefix("boundary="))?.trim_matches('"');
    let delimiter = format!("\r\n--{boundary}");
    let end = memmem::rfind(body, format!("{delimiter}--").as_bytes())?;
    // The file itself may contain anything but the delimiter.
    let start =
        memmem::rfind(&body[..end], delimiter.as_bytes()).map_or(delimiter.len() - 2, |at| at + delimiter.len());
    let part = body.get(start..end)?;
    let content = memmem::find(part, b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&part[..content]).to_ascii_lowercase();
    let is_file = ["name=\"file\"", "name=file"].iter().any(|name| head.contains(&format!("; {name}")));
    is_file.then_some(&part[content..])
}

/// The content of a `data:` address (RFC 2397); `None` for a malformed one.
pub(crate) fn data_url(address: &str) -> Option<Vec<u8>> {
    let (head, data) = address.strip_prefix("data:")?.split_once(',')?;
    if head.to_ascii_lowercase().ends_with(";base64") {
        return LENIENT.decode(data.trim()).ok();
    }
    Some(percent_encoding::percent_decode_str(data).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(parts: &[(&str, &str)]) -> Vec<u8> {
        let part = |(name, content): &(&str, &str)| {
            format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a\"\r\n\r\n{content}\r\n")
        };
        (parts.iter().map(part).collect::<String>() + "--XX--\r\n").into_bytes()
    }

    #[test]
    fn last_field_of_a_form_is_the_file() {
        let content_type = "multipart/form-data; boundary=XX";
        for content in ["a", "", "\r\n\r\n--X", "name=\"file\"\r\n\r\nx"] {
            let body = form(&[("key", "k"), ("file", content)]);
            assert_eq!(form_file(content_type, &body), Some(content.as_bytes()), "{content:?}");
            assert_eq!(form_file(content_type, &form(&[("file", content)])), Some(content.as_bytes()), "{content:?}");
        }
        let quoted = "multipart/form-data; charset=utf-8; boundary=\"XX\"";
        assert_eq!(form_file(quoted, &form(&[("file", "a")])), Some(&b"a"[..]));
    }

    #[test]
    fn other_bodies_are_no_form() {
        let good = form(&[("file", "a")]);
        for (content_type, body) in [
            ("application/json", good.clone()),
            ("multipart/form-data", good.clone()),
            ("multipart/form-data; boundary=YY", good.clone()),
            ("multipart/form-data; boundary=XX", good[..good.len() - 8].to_vec()),
            ("multipart/form-data; boundary=XX", form(&[("file", "a"), ("key", "k")])),
            ("multipart/form-data; boundary=XX", b"\r\n--XX--".to_vec()),
            ("multipart/form-data; boundary=XX", Vec::new()),
        ] {
            assert_eq!(form_file(content_type, &body), None, "{content_type} {body:?}");
        }
    }

    #[test]
    fn data_addresses_are_decoded() {
        assert_eq!(data_url("data:text/plain;base64,5L2g").as_deref(), Some("你".as_bytes()));
        assert_eq!(data_url("data:;BASE64,YQ").as_deref(), Some(&b"a"[..]));
        assert_eq!(data_url("data:,a%20b").as_deref(), Some(&b"a b"[..]));
        for bad in ["data:", "data:image/png;base64,%%%", "http://a", ""] {
            assert_eq!(data_url(bad), None, "{bad}");
        }
    }
}
