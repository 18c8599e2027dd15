use std::time::{SystemTime, UNIX_EPOCH};

use ulid::Ulid;

/// Creates an id for a turn, a message or a conversation: a ULID, 26 characters of Crockford's base 32.
pub fn new_id() -> String {
    new_ulid().to_string()
}

/// Creates a ULID: the milliseconds since 1970, and 80 random bits.
///
/// # Panics
/// The system has no random bytes.
pub fn new_ulid() -> Ulid {
    let mut random = [0; 16];
    assert!(getrandom::fill(&mut random).is_ok(), "the system has no random bytes");
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ulid::from_parts(u64::try_from(since_1970.as_millis()).unwrap_or_default(), u128::from_ne_bytes(random))
}

/// The id with this number among those that derive from `seed`, which is one of them: the same for the same seed.
pub fn derived_id(seed: &str, number: usize) -> String {
    let seed = Ulid::from_string(seed).unwrap_or_default();
    Ulid::from_parts(seed.timestamp_ms(), seed.random().wrapping_add(number as u128)).to_string()
}

/// When an id was created, in seconds since 1970; `None` for any other text.
pub fn id_seconds(id: &str) -> Option<u64> {
    Ulid::from_string(id).ok().map(|id| id.timestamp_ms() / 1000)
}

/// Whether a text is such an id in canonical spelling.
pub fn is_id(text: &str) -> bool {
    Ulid::from_string(text).is_ok_and(|id| id.array_to_str(&mut [0; ulid::ULID_LEN]) == text)
}
