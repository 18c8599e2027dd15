//! Masks secrets in responses.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::template::percent_encode;

const REPLACEMENT: &str = "[hidden]";

/// Shortest secret that is sent, in bytes: a shorter one would match everywhere.
pub(crate) const MIN_SECRET_BYTES: usize = 4;

/// Replaces a secret in responses, in all encodings in which it may be repeated.
#[derive(Clone, Default)]
pub(crate) struct SecretMask {
    /// The longest first, so that no form is broken by a part of it.
    forms: Vec<SecretString>,
}

impl SecretMask {
    /// Creates the mask of a secret and of the header value that contains it.
    pub(crate) fn new(secret: &SecretString, sent: &SecretString) -> Self {
        let sent = sent.expose_secret();
        // The scheme is not secret.
        let credentials = sent.rsplit(' ').next().unwrap_or(sent);
        let mut forms: Vec<String> = [secret.expose_secret(), credentials].into_iter().flat_map(secret_forms).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { forms: forms.into_iter().map(SecretString::from).collect() }
    }

    pub(crate) fn replacement() -> String {
        REPLACEMENT.to_owned()
    }

    pub(crate) fn mask_text(&self, text: &str) -> String {
        self.forms.iter().fold(text.to_owned(), |text, form| text.replace(form.expose_secret(), REPLACEMENT))
    }

    /// Masks a truncated text, which may end inside the secret.
    pub(crate) fn mask_truncated(&self, text: &str) -> String {
        self.mask_text(text.get(..self.safe_end(text)).unwrap_or_default())
    }

    /// Removes the part of a growing text that can be shown, and returns it masked; a possible beginning of the secret
    /// stays.
    pub(crate) fn take_safe(&self, growing: &mut String) -> String {
        let end = self.safe_end(growing);
        let masked = self.mask_text(growing.get(..end).unwrap_or_default());
        growing.drain(..end);
        masked
    }

    /// Returns the end of the text that no continuation can change: before a possible beginning of the secret.
    fn safe_end(&self, text: &str) -> usize {
        let mut end = self.forms.iter().filter_map(|form| partial_match(text, form.expose_secret())).min();
        while let Some(start) = end.and_then(|end| self.crossing_secret(text, end)) {
            end = Some(start);
        }
        end.unwrap_or(text.len())
    }

    /// Returns the start of a secret that crosses `end`.
    fn crossing_secret(&self, text: &str, end: usize) -> Option<usize> {
        let start = |form: &SecretString| {
            let form = form.expose_secret();
            let from = text.ceil_char_boundary((end + 1).saturating_sub(form.len()));
            let found = from + text.get(from..)?.find(form)?;
            (found < end && found + form.len() > end).then_some(found)
        };
        self.forms.iter().filter_map(start).min()
    }

    pub(crate) fn mask_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.mask_text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.mask_value(item)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (self.mask_text(&name), self.mask_value(value))).collect()
            }
            other => {
                let written = other.to_string();
                let masked = self.mask_text(&written);
                if masked == written { other } else { Value::String(masked) }
            }
        }
    }
}

/// Returns the start of the longest suffix of a text that is an incomplete prefix of a form.
fn partial_match(text: &str, form: &str) -> Option<usize> {
    let from = text.ceil_char_boundary((text.len() + 1).saturating_sub(form.len()));
    let mut ends = text.get(from..)?.char_indices().map(|(at, _)| from + at);
    ends.find(|at| text.get(*at..).is_some_and(|end| form.starts_with(end)))
}

fn secret_forms(secret: &str) -> Vec<String> {
    let json = Value::from(secret).to_string();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default().to_owned();
    let slashes = json.replace('/', "\\/");
    let base64 = [STANDARD.encode(secret), URL_SAFE_NO_PAD.encode(secret)];
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let twice = percent_encode(&percent_encode(secret));
    let paths = [percent_encode(secret).replace("%2F", "/"), twice.to_lowercase(), twice];
    let digits = secret.bytes().flat_map(|byte| [byte >> 4, byte & 15]);
    let hex: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    let turned = [secret.chars().rev().collect(), hex.to_uppercase(), hex];
    [secret.to_owned(), percent_encode(secret), percent_encode(secret).to_lowercase(), json, slashes, html]
        .into_iter()
        .chain(base64)
        .chain(paths)
        .chain(turned)
        .chain([
            entities(secret, |c| format!("&#{};", u32::from(c))),
            entities(secret, |c| format!("&#x{:x};", u32::from(c))),
        ])
        .chain(inside_base64(secret))
        .collect()
}

/// Encodes every character as an entity.
fn entities(secret: &str, entity: fn(char) -> String) -> String {
    secret.chars().map(entity).collect()
}

/// Returns the part of the secret's Base64 that does not depend on the surrounding bytes, for each offset; parts that
/// are too short to be distinctive are left out.
fn inside_base64(secret: &str) -> impl Iterator<Item = String> {
    const MIN_PART_CHARS: usize = 8;
    let bytes = secret.as_bytes();
    (1..3)
        .flat_map(move |offset| {
            let first = 3 - offset;
            let last = bytes.len() - bytes.len().saturating_sub(first) % 3;
            let inside = bytes.get(first..last).unwrap_or_default();
            [STANDARD.encode(inside), URL_SAFE_NO_PAD.encode(inside)]
        })
        .filter(|part| part.len() >= MIN_PART_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mask() -> SecretMask {
        SecretMask::new(&"can/ary+7\"".into(), &"Bearer can/ary+7\"".into())
    }

    #[test]
    fn f132_secret_is_masked_in_every_encoding() {
        for form in [
            "can/ary+7\"",
            "can%2Fary%2B7%22",
            "can%2fary%2b7%22",
            "can\\/ary+7\\\"",
            "Y2FuL2FyeSs3Ig==",
            "can/ary+7&quot;",
            "63616e2f6172792b3722",
            "63616E2F6172792B3722",
            "\"7+yra/nac",
            "can%252Fary%252B7%2522",
            "can/ary%2B7%22",
            "&#99;&#97;&#110;&#47;&#97;&#114;&#121;&#43;&#55;&#34;",
            "&#x63;&#x61;&#x6e;&#x2f;&#x61;&#x72;&#x79;&#x2b;&#x37;&#x22;",
        ] {
            assert_eq!(mask().mask_text(&format!("a {form} b")), "a [hidden] b", "{form}");
        }
        let answer: Value =
            serde_json::from_str(r#"{"you sent":["Bearer c\u0061n\/ary+7\""],"can/ary+7\"":1}"#).unwrap();
        assert_eq!(mask().mask_value(answer), json!({"you sent": ["Bearer [hidden]"], "[hidden]": 1}));
        let number = SecretMask::new(&"123456".into(), &"123456".into());
        assert_eq!(number.mask_value(json!([123_456, 12, true, null])), json!(["[hidden]", 12, true, null]));
    }

    #[test]
    fn f132_secret_inside_other_base64_is_masked() {
        let mask = SecretMask::new(&"a-long-secret-key".into(), &"a-long-secret-key".into());
        for before in ["", "x", "xy", "xyz"] {
            for after in ["", "1", "12"] {
                let text = STANDARD.encode(format!("{before}a-long-secret-key{after}"));
                let masked = mask.mask_text(&text);
                assert!(
                    masked.contains(REPLACEMENT) && masked.len() - REPLACEMENT.len() <= 12,
                    "{before} {after}: {masked}"
                );
            }
        }
    }

    #[test]
    fn f132_basic_auth_credentials_are_masked_together() {
        let mask = SecretMask::new(&"canary".into(), &"Basic YTpjYW5hcnk=".into());
        assert_eq!(mask.mask_text("YTpjYW5hcnk= canary"), "[hidden] [hidden]");
    }

    #[test]
    fn f132_partial_secret_at_truncation_is_removed() {
        let text = format!("{} can/ar", "x".repeat(50));
        assert!(!mask().mask_truncated(&text).contains("can"));
        assert_eq!(mask().mask_truncated("a can/ary+7\" 完"), "a [hidden] 完", "nothing else is lost");
        assert_eq!(SecretMask::default().mask_truncated("abc"), "abc");
    }

    #[test]
    fn f132_only_possible_secret_prefix_is_held_back() {
        let forms =
            ["can/ary+7\"", "&#x63;&#x61;&#x6e;&#x2f;&#x61;&#x72;&#x79;&#x2b;&#x37;&#x22;", "63616e2f6172792b3722"];
        for form in forms {
            let text = format!("第一 {form} 第二 can &#x 636");
            for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let (mut growing, mask) = (text[..cut].to_owned(), mask());
                let mut shown = mask.take_safe(&mut growing);
                assert!(form.starts_with(&growing) || growing.len() < 6, "{cut}: {growing}");
                growing.push_str(&text[cut..]);
                shown += &mask.take_safe(&mut growing);
                assert_eq!(shown + &growing, "第一 [hidden] 第二 can &#x 636", "{cut}");
            }
        }
    }
}
