use std::sync::{Mutex, PoisonError};

use platform::secrets::Secret;
use secrecy::{ExposeSecret, SecretString};

/// Replacement for a key.
const MARK: &[u8] = b"[key]";

/// Removes the configured keys from recordings.
pub(crate) struct KeyFilter {
    secrets: Vec<Secret>,
    /// All values seen so far: a rotated key may still be echoed.
    seen: Mutex<Vec<SecretString>>,
}

impl KeyFilter {
    pub(crate) fn new(secrets: Vec<Secret>) -> Self {
        Self { secrets, seen: Mutex::default() }
    }

    /// Replaces every key with a mark, both verbatim and as encoded in JSON.
    pub(crate) fn hide(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.forms().iter().fold(bytes, |bytes, form| replace_all(bytes, form))
    }

    /// Returns the length of the longest suffix that may be the start of a key.
    pub(crate) fn partial_key_len(&self, bytes: &[u8]) -> usize {
        let tail = |form: &Vec<u8>| {
            let longest = bytes.len().min(form.len().saturating_sub(1));
            (1..=longest).rev().find(|length| bytes.ends_with(&form[..*length])).unwrap_or_default()
        };
        self.forms().iter().map(tail).max().unwrap_or_default()
    }

    fn forms(&self) -> Vec<Vec<u8>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for value in self.secrets.iter().filter_map(Secret::peek) {
            if !seen.iter().any(|known| known.expose_secret() == value.expose_secret()) {
                seen.push(value);
            }
        }
        // A long key may contain a short one.
        seen.sort_by_key(|value| std::cmp::Reverse(value.expose_secret().len()));
        seen.iter().flat_map(|value| encodings(value.expose_secret())).collect()
    }
}

/// Returns a key verbatim, and as encoded in JSON if that differs.
fn encodings(key: &str) -> Vec<Vec<u8>> {
    let json = serde_json::Value::from(key).to_string();
    let inner = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned();
    let mut forms = vec![inner.into_bytes(), key.as_bytes().to_vec()];
    forms.dedup();
    forms.retain(|form| !form.is_empty());
    forms
}

fn replace_all(bytes: Vec<u8>, form: &[u8]) -> Vec<u8> {
    let mut hidden = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.windows(form.len()).position(|window| window == form) {
        hidden.extend_from_slice(&rest[..at]);
        hidden.extend_from_slice(MARK);
        rest = &rest[at + form.len()..];
    }
    if hidden.is_empty() {
        return bytes;
    }
    hidden.extend_from_slice(rest);
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hide_keys(keys: &[&str], text: &str) -> String {
        let keys = KeyFilter::new(keys.iter().copied().map(Secret::by_value).collect());
        String::from_utf8(keys.hide(text.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn keys_are_hidden_verbatim_and_in_json() {
        assert_eq!(hide_keys(&["sk-1", "sk-12"], "sk-12, sk-1 and sk-1"), "[key], [key] and [key]");
        assert_eq!(hide_keys(&["a\"b"], r#"{"said":"a\"b"} a"b"#), r#"{"said":"[key]"} [key]"#);
        assert_eq!(hide_keys(&[], "sk-1"), "sk-1");
    }

    #[test]
    fn partial_key_at_the_end_is_detected() {
        let keys = KeyFilter::new(vec![Secret::by_value("sk-canary")]);
        let partial_key_len = |text: &str| keys.partial_key_len(text.as_bytes());
        assert_eq!(
            [
                partial_key_len("said sk-can"),
                partial_key_len("s"),
                partial_key_len("sk-canary"),
                partial_key_len("none")
            ],
            [6, 1, 0, 0]
        );
    }
}
