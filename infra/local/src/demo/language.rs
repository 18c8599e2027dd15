/// The language in which a demo answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Chinese,
    English,
}

impl Language {
    /// Chinese for anything that holds a Chinese character, English for everything else.
    pub(super) fn of(text: &str) -> Self {
        let chinese =
            |c: char| matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}');
        if text.chars().any(chinese) { Self::Chinese } else { Self::English }
    }

    /// The one of two texts that is in this language.
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
    fn one_chinese_character_decides() {
        assert_eq!(Language::of("What does 你好 mean?"), Language::Chinese);
        assert_eq!(Language::of("Ça va? Привет!"), Language::English);
    }
}
