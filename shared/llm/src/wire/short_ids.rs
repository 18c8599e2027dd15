//! Ids of calls for endpoints that accept nine letters and digits only: Mistral, and vLLM with Mistral's tokenizer.

use std::borrow::Cow;
use std::collections::HashMap;

use domain::Message;

// Source: https://github.com/anomalyco/opencode/issues/1680, 2026-11-25.
const LENGTH: usize = 9;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The start of the hash.
const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// The ids of one request.
#[derive(Debug, Default)]
pub(crate) struct CallIds<'a>(HashMap<&'a str, String>);

impl<'a> CallIds<'a> {
    /// Keeps all ids.
    pub(crate) fn unchanged() -> Self {
        Self::default()
    }

    /// Replaces ids of another form. The new id depends on the old one only, as far as no other call has it, so that
    /// prompts keep their beginning from turn to turn.
    pub(crate) fn short(messages: &'a [Message]) -> Self {
        let replies = messages.iter().filter_map(|message| match message {
            Message::Assistant { calls, .. } => Some(calls),
            Message::User { .. } | Message::Tool(_) => None,
        });
        let calls: Vec<&str> = replies.flatten().map(|call| &*call.id).collect();
        let (kept, others): (Vec<&str>, Vec<&str>) = calls.iter().partition(|id| is_short(id));
        let mut ids: HashMap<&str, String> = kept.into_iter().map(|id| (id, id.to_owned())).collect();
        for id in others {
            if !ids.contains_key(id) {
                let is_free = |short: &String| !ids.values().any(|taken| taken == short);
                let short = (0..=calls.len()).map(|salt| shorten(id, salt)).find(is_free).unwrap_or_default();
                ids.insert(id, short);
            }
        }
        Self(ids)
    }

    /// Returns the id that is sent for `id`.
    pub(crate) fn of(&self, id: &'a str) -> Cow<'a, str> {
        self.0.get(id).map_or(Cow::Borrowed(id), |short| Cow::Owned(short.clone()))
    }
}

fn is_short(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Hashes an id (FNV-1a, 64 bits) to nine letters and digits.
fn shorten(id: &str, salt: usize) -> String {
    let hash =
        id.bytes().fold(SEED ^ salt as u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let digits = (0..LENGTH).scan(hash, |rest, _| {
        let digit = usize::try_from(*rest % 62).unwrap_or_default();
        *rest /= 62;
        Some(char::from(ALPHABET[digit]))
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use domain::ToolCall;
    use serde_json::json;

    use super::*;

    fn calls(ids: &[&str]) -> Vec<Message> {
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "f".to_owned(), arguments: json!({}) };
        let (text, thinking, calls) = (String::new(), String::new(), ids.iter().map(call).collect());
        vec![Message::Assistant { text, thinking, calls, provider_data: None }]
    }

    #[test]
    fn other_ids_get_nine_letters_or_digits() {
        let messages = calls(&["call_cclGbjTQkZDEnnHrRiU0n7NO", "toolu_01MKS", "call_1", "D681PevKs", "call_1"]);
        let ids = CallIds::short(&messages);
        assert_eq!(ids.of("D681PevKs"), "D681PevKs");
        let sent: Vec<_> = ["call_cclGbjTQkZDEnnHrRiU0n7NO", "toolu_01MKS", "call_1"].map(|id| ids.of(id)).into();
        assert!(sent.iter().all(|id| is_short(id)), "{sent:?}");
        assert!(sent[0] != sent[1] && sent[1] != sent[2] && sent[0] != sent[2]);
        let alone = calls(&["call_1"]);
        assert_eq!(CallIds::short(&alone).of("call_1"), sent[2], "the same in every request");
        assert_eq!(CallIds::unchanged().of("call_1"), "call_1");
    }

    #[test]
    fn id_in_use_is_given_to_no_other() {
        let taken = shorten("call_1", 0);
        let messages = calls(&["call_1", &taken]);
        let ids = CallIds::short(&messages);
        assert_eq!(ids.of(&taken), &*taken);
        assert!(is_short(&ids.of("call_1")) && ids.of("call_1") != *taken);
    }
}
