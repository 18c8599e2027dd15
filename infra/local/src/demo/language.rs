/// Language of the demo's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Chinese,
    English,
}

impl Language {
    /// Returns Chinese for any text with a Chinese character, else English.
    pub(super) fn of(text: &str) -> Self {
        let chinese =
            |c: char| matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}');
        if text.chars().any(chinese) { Self::Chinese } else { Self::English }
    }

    /// Selects the value for this language.
    pub(super) fn choose<T>(self, chinese: T, english: T) -> T {
        match self {
            Self::Chinese => chinese,
            Self::English => english,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn one_chinese_character_selects_chinese() {
        assert_eq!(Language::of("What does 你好 mean?"), Language::Chinese);
        assert_eq!(Language::of("Ça va? Привет!"), Language::English);
    }
}
