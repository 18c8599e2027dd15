/// Removes the characters that are invisible to people but not to models.
pub fn strip_invisible(text: &str) -> String {
    text.split(|c| !matches!(c, '\n' | '\t') && (char::is_control(c) || is_invisible(c))).collect()
}

/// Whether a character is invisible: zero-width characters that no script needs, direction overrides, tag characters,
/// and variation selectors that no emoji needs.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
        | '\u{E0000}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f135_invisible_characters_are_removed() {
        assert_eq!(strip_invisible("a\u{200B}b\u{E0041}\u{202E}c\u{7}"), "abc");
        assert_eq!(strip_invisible("👩\u{200D}💻"), "👩\u{200D}💻");
    }
}
