use ulid::Ulid;

/// Makes an id for a turn, a message or a conversation: a ULID, 26 characters of Crockford's base 32.
pub fn new_id() -> String {
    Ulid::new().to_string()
}
