//! Fuzz tests of cursors, backups and API keys.

use fuzz::{ensure, run_text};
use secrecy::ExposeSecret;

use crate::conversations::cursor;
use crate::{ApiKey, BackupCheck};

#[test]
fn fuzz_only_own_cursors_are_decoded() {
    let cursor = cursor::encode("U#a", 7_u64).unwrap();
    let other = cursor::encode("U#b", 7_u64).unwrap();
    let (own, other) = (cursor.as_str(), other.as_str());
    run_text("cursors", &[own, other, "", "7b7d"], &["7b", "22", "3a", "7d", "00", "汉"], |text| {
        match cursor::read::<u64>("U#a", text) {
            Ok(at) => {
                let again = cursor::encode("U#a", at).map_err(|error| error.to_string())?;
                ensure(cursor::read::<u64>("U#a", &again) == Ok(at), || format!("{at} is read as another place"))
            }
            Err(_) => ensure(text != own, || "its own cursor is refused".to_owned()),
        }
    });
}

const BACKUP: &str = concat!(
    r#"{"backup":{"form":1,"table":"data","at":"2026-01-01T00:00:00Z","shape":1}}"#,
    "\n",
    r##"{"Item":{"pk":{"S":"U#a"},"sk":{"S":"C#01J00000000000000000000000"},"updatedAt":{"N":"1"},"v":{"N":"1"}}}"##,
    "\n",
    r#"{"again":1}"#,
    "\n",
    r#"{"end":{"items":1,"sha256":"00"}}"#,
    "\n",
);

const TOKENS: [&str; 12] = [
    "{\"backup\":",
    "{\"Item\":",
    "{\"again\":18446744073709551615}",
    "{\"again\":0}",
    "{\"end\":",
    "\"B\":\"AA==\"",
    "\"L\":[",
    "\"M\":{",
    "\"N\":\"1e999\"",
    "\"NULL\":true",
    "\"SS\":[\"a\"]",
    "\n",
];

#[test]
fn fuzz_changed_backup_never_passes_check() {
    run_text("backups", &[BACKUP, ""], &TOKENS, |text| {
        let mut check = BackupCheck::default();
        for line in text.lines() {
            if check.check_line(line).is_err() {
                return Ok(());
            }
        }
        // Its end holds a checksum that no file of these lines has.
        ensure(check.finish().is_err(), || "it is taken for a whole backup".to_owned())
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
