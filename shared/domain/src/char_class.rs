/// How a character is part of the terms by which texts are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CharClass {
    /// Of a script with spaces: a run of letters and digits is a term.
    Letter,
    /// Of a script without spaces, or a symbol such as an emoji: terms are adjacent characters.
    Paired,
    /// Between terms.
    Separator,
}

impl CharClass {
    /// The class of a character.
    #[inline]
    pub fn of(character: char) -> Self {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => Self::Letter,
            '\0'..='\x7F' => Self::Separator,
            // Thai and Lao, symbols, kana, Han characters, Hangul, emoji.
            '\u{0E00}'..='\u{0EFF}'
            | '\u{2190}'..='\u{2BFF}'
            | '\u{3040}'..='\u{30FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7AF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{1F000}'..='\u{1FAFF}'
            | '\u{20000}'..='\u{3FFFF}' => Self::Paired,
            other if other.is_alphanumeric() => Self::Letter,
            _ => Self::Separator,
        }
    }
}
