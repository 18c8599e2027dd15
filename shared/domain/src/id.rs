use ulid::Ulid;

/// Creates an id for a turn, a message or a conversation: a ULID, 26 characters of Crockford's base 32.
pub fn new_id() -> String {
    Ulid::new().to_string()
}

/// Whether a text is such an id in canonical spelling.
pub fn is_id(text: &str) -> bool {
    Ulid::from_string(text).is_ok_and(|id| id.to_string() == text)
}
