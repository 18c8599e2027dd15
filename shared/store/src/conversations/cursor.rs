use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ReadError;
use crate::item::to_json;
use crate::key::digest;

/// The maximum length of a cursor, in characters.
const MAX_LEN: usize = 512;

/// The version of the cursors' content.
const VERSION: u32 = 1;

/// A position in a list, as hexadecimal JSON with a tag of the list.
///
/// It grants no access: the partition that is read always comes from the caller. A forged cursor only moves the start
/// of its owner's list.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cursor<T> {
    v: u32,
    of: String,
    at: T,
}

/// Encodes a cursor of the list that is named by `list`.
pub(crate) fn encode<T: Serialize>(list: &str, at: T) -> String {
    hex::encode(to_json(&Cursor { v: VERSION, of: list_tag(list), at }))
}

/// Decodes a cursor of the same list.
pub(crate) fn read<T: DeserializeOwned>(list: &str, text: &str) -> Result<T, ReadError> {
    let bytes = Some(text)
        .filter(|text| text.len() <= MAX_LEN)
        .and_then(|text| hex::decode(text).ok())
        .ok_or(ReadError::BadCursor)?;
    let cursor: Cursor<T> = serde_json::from_slice(&bytes).map_err(|_| ReadError::BadCursor)?;
    let ours = cursor.v == VERSION && cursor.of == list_tag(list);
    if ours { Ok(cursor.at) } else { Err(ReadError::BadCursor) }
}

/// Identifies a list without revealing its name.
fn list_tag(list: &str) -> String {
    digest(list).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cursor_of_another_list_or_version_is_malformed() {
        let cursor = encode("U#a", 7_u64);
        assert_eq!(read::<u64>("U#a", &cursor), Ok(7));
        assert_eq!(read::<u64>("U#b", &cursor), Err(ReadError::BadCursor));
        assert_eq!(read::<String>("U#a", &cursor), Err(ReadError::BadCursor));
        let later = hex::encode(format!("{{\"v\":2,\"of\":\"{}\",\"at\":7}}", list_tag("U#a")));
        assert_eq!(read::<u64>("U#a", &later), Err(ReadError::BadCursor));
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_no_cursor(text in ".{0,600}") {
            prop_assert_eq!(read::<u64>("U#a", &text), Err(ReadError::BadCursor));
        }
    }
}
