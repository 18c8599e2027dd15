use domain::new_id;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use crate::key::is_ulid;
use crate::{Result, StoreError};

/// Marks a text as a key, for people and for secret scanners.
const PREFIX: &str = "lc_";

/// The secret's length in bytes: 256 bits.
const SECRET_BYTES: usize = 32;

/// A key as its holder presents it: `lc_`, an id, `_`, and a secret in lower-case hexadecimal.
///
/// `Debug` shows the id alone.
#[derive(Clone)]
pub struct ApiKey {
    id: String,
    secret: SecretString,
}

impl ApiKey {
    /// Makes a key with a secret of 256 bits from the operating system.
    ///
    /// # Errors
    /// A fault when the system gives no random bytes.
    pub fn generate() -> Result<Self> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|_| StoreError::fault("no random bytes"))?;
        Ok(Self { id: new_id(), secret: hex::encode(secret).into() })
    }

    /// Parses a key in its canonical spelling; any other text is `None` and causes no lookup.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let is_hex_secret =
            secret.len() == 2 * SECRET_BYTES && secret.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (is_ulid(id) && is_hex_secret).then(|| Self { id: id.to_owned(), secret: secret.into() })
    }

    /// The part that identifies the key but proves nothing; a ULID.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The whole key, to be shown once to its holder.
    pub fn text(&self) -> SecretString {
        format!("{PREFIX}{}_{}", self.id, self.secret.expose_secret()).into()
    }

    /// The stored hash. A plain SHA-256 is enough: nobody can try 2²⁵⁶ secrets.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.text().expose_secret().as_bytes()).into()
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiKey").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn f118_keys_are_unique_and_round_trip() {
        let keys: Vec<ApiKey> = (0..100).map(|_| ApiKey::generate().unwrap()).collect();
        for key in &keys {
            let parsed = ApiKey::parse(key.text().expose_secret()).unwrap();
            assert_eq!((parsed.id(), parsed.digest()), (key.id(), key.digest()));
        }
        assert_eq!(keys.iter().map(|key| key.secret.expose_secret()).collect::<HashSet<_>>().len(), 100);
    }

    #[test]
    fn f122_debug_output_hides_secret() {
        let key = ApiKey::generate().unwrap();
        let shown = format!("{key:?} {:?}", key.text());
        assert!(shown.contains(key.id()) && !shown.contains(key.secret.expose_secret()));
    }

    #[test]
    fn f142_noncanonical_key_is_rejected() {
        let good = ApiKey::generate().unwrap().text().expose_secret().to_owned();
        let (id, secret) = good[3..].split_once('_').unwrap();
        let bad = [
            String::new(),
            format!("{good} "),
            format!("{good}0"),
            good[1..].to_owned(),
            good[..good.len() - 1].to_owned(),
            format!("LC_{id}_{secret}"),
            format!("lc_{}_{secret}", id.to_lowercase()),
            format!("lc_{id}_{}g", &secret[1..]),
            format!("lc_{id}_{}É", &secret[2..]),
            format!("lc_{id}{secret}"),
            format!("lc_{id}_{secret}_"),
        ];
        for text in bad {
            assert!(ApiKey::parse(&text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_no_key(text in "(lc_)?.{0,120}") {
            prop_assert!(ApiKey::parse(&text).is_none());
        }
    }
}
