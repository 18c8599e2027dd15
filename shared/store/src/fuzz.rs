//! Fuzz tests of cursors and API keys.

use fuzz::{ensure, run_text};
use secrecy::ExposeSecret;

use crate::ApiKey;
use crate::conversations::cursor;

#[test]
fn fuzz_only_own_cursors_are_decoded() {
    let cursor = cursor::encode("U#a", 7_u64);
    let other = cursor::encode("U#b", 7_u64);
    let (own, other) = (cursor.as_str(), other.as_str());
    run_text("cursors", &[own, other, "", "7b7d"], &["7b", "22", "3a", "7d", "00", "汉"], |text| {
        match cursor::read::<u64>("U#a", text) {
            Ok(at) => {
                let again = cursor::encode("U#a", at);
                ensure(cursor::read::<u64>("U#a", &again) == Ok(at), || format!("{at} is read as another place"))
            }
            Err(_) => ensure(text != own, || "its own cursor is refused".to_owned()),
        }
    });
}

#[test]
fn fuzz_only_canonical_keys_are_parsed() {
    let key = ApiKey::generate().unwrap();
    let text = key.text().expose_secret().to_owned();
    run_text("keys", &[&text], &["_", ".", "-", "汉", "\0"], |text| {
        let Some(key) = ApiKey::parse(text) else { return Ok(()) };
        let written = key.text().expose_secret().to_owned();
        ensure(ApiKey::parse(&written).is_some_and(|again| again.id() == key.id()), || "another key is read".to_owned())
    });
}
