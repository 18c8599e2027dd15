use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use domain::Owner;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::{Digest, Sha256};

use crate::attributes::s;

/// The name of the partition key in both tables.
pub(crate) const PK: &str = "pk";
/// The name of the sort key in both tables.
pub(crate) const SK: &str = "sk";

/// The maximum length in bytes of an encoded name in a key; longer names are hashed (a partition key holds 2048 bytes).
const MAX_PLAIN_BYTES: usize = 512;

/// All bytes except letters, digits and `-._~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The partitions of an owner's items; every key of an owner's item starts with one of them.
pub(crate) trait OwnerPartitions {
    /// The partition of the owner's conversations.
    fn partition(&self) -> String;

    /// The partition of the owner's usage.
    fn usage_partition(&self) -> String;

    /// The partition of the owner's files.
    fn file_partition(&self) -> String;

    /// The first partition of the owner's articles.
    fn article_partition(&self) -> String;

    /// The partition of the event logs of one conversation.
    fn stream_partition(&self, conversation: &str) -> String;

    /// The partition of the items of one conversation of this owner.
    fn conversation_partition(&self, conversation: &str) -> String;
}

impl OwnerPartitions for Owner {
    fn partition(&self) -> String {
        format!("U#{}", encode(self.as_str()))
    }

    fn usage_partition(&self) -> String {
        format!("{}#U", self.partition())
    }

    fn file_partition(&self) -> String {
        format!("{}#F", self.partition())
    }

    fn article_partition(&self) -> String {
        format!("{}#A", self.partition())
    }

    fn stream_partition(&self, conversation: &str) -> String {
        format!("{}#S#{conversation}", self.partition())
    }

    fn conversation_partition(&self, conversation: &str) -> String {
        format!("{}#C#{conversation}", self.partition())
    }
}

/// The primary key of one item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) pk: String,
    pub(crate) sk: String,
}

impl Key {
    pub(crate) fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(crate) fn attributes(&self) -> HashMap<String, AttributeValue> {
        HashMap::from([(PK.to_owned(), s(&self.pk)), (SK.to_owned(), s(&self.sk))])
    }
}

/// Encodes a name as a part of a key. No two names have the same encoding, and no encoding holds `#`, so no name can
/// forge another's key.
///
/// Letters, digits and `-._~` stay, other bytes become `%XX`. A part that is too long becomes `h:` and a SHA-256, which
/// equals no encoded name because `:` is always encoded.
pub(crate) fn encode(name: &str) -> String {
    let part = utf8_percent_encode(name, ENCODED).to_string();
    if part.len() > MAX_PLAIN_BYTES { format!("h:{}", digest(name)) } else { part }
}

/// The SHA-256 of a text, in lower-case hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    digest_of(text.as_bytes())
}

/// The SHA-256 of bytes, in lower-case hexadecimal.
pub fn digest_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Only ULIDs are looked up.
pub(crate) use domain::is_id as is_ulid;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn f119_owner_cannot_forge_keys_of_another() {
        let forged = Owner::new("a#C#01J");
        assert_eq!(forged.partition(), "U#a%23C%2301J");
        assert_ne!(forged.partition(), Owner::new("a").conversation_partition("01J"));
        assert_ne!(Owner::new("%41").partition(), Owner::new("A").partition());
        assert_ne!(Owner::new("").conversation_partition("x"), Owner::new("#C#x").partition());
    }

    #[test]
    fn long_owner_is_hashed_without_collision() {
        let long = "甲".repeat(5_000);
        let partition = Owner::new(long.clone()).partition();
        assert_eq!(partition.len(), "U#h:".len() + 64);
        assert_ne!(partition, Owner::new(format!("h:{}", digest(&long))).partition());
    }

    #[test]
    fn only_canonical_ulids_are_ids() {
        assert!(is_ulid("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
        for text in ["", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FA", "81ARZ3NDEKTSV4RRFFQ69G5FAV", "…"]
        {
            assert!(!is_ulid(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn f119_different_names_have_different_encodings(a in ".{0,300}", b in ".{0,300}") {
            prop_assert_eq!(encode(&a) == encode(&b), a == b);
            prop_assert!(!encode(&a).contains('#'));
        }

        #[test]
        fn hex_round_trips(bytes: Vec<u8>) {
            prop_assert_eq!(hex::decode(hex::encode(&bytes)), Ok(bytes));
        }

        #[test]
        fn malformed_hex_is_rejected(text in ".{0,40}") {
            if let Ok(bytes) = hex::decode(&text) {
                prop_assert_eq!(hex::encode(&bytes), text.to_lowercase());
            }
        }
    }
}
