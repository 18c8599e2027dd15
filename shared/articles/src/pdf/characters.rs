use unicode_normalization::UnicodeNormalization;

/// Whether a character belongs to a script that is written without spaces, or to its punctuation.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{2E80}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Appends a character as people type it: ligatures are divided, and radicals and compatibility ideographs, which fonts
/// name for the ideographs of the same form, are those.
pub(super) fn push(text: &mut String, character: char) {
    match character {
        '\u{FB00}'..='\u{FB06}' | '\u{2E80}'..='\u{2FDF}' | '\u{F900}'..='\u{FAFF}' => text.extend(character.nfkc()),
        control if control.is_control() => text.push(' '),
        other => text.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_and_radicals_are_plain_characters() {
        let mut text = String::new();
        "oﬃce ⼀⾏ 茶\u{1}x".chars().for_each(|character| push(&mut text, character));
        assert_eq!(text, "office 一行 茶 x");
        assert!(is_unspaced('茶') && is_unspaced('。') && !is_unspaced('é'));
    }
}
