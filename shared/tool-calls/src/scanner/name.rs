/// Whether a tool's name may contain the character.
pub(crate) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/')
}

/// The length of the name with which a text begins, in bytes.
pub(super) fn name_len(text: &str) -> usize {
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}
