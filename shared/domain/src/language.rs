use serde::{Deserialize, Serialize};

/// A language of the texts that models read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Chinese.
    #[default]
    Zh,
    /// English.
    En,
}

impl Language {
    /// The language of a text: Chinese if it has at least as many Han characters as Latin words, English otherwise.
    /// Texts with kana or hangul are neither; English serves them.
    pub fn of(text: &str) -> Self {
        let (mut han, mut words, mut is_in_word) = (0_usize, 0_usize, false);
        for character in text.chars() {
            match character {
                '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7AF}' => return Self::En,
                '\u{3400}'..='\u{9FFF}' => han += 1,
                _ => {}
            }
            let is_latin = character.is_alphabetic() && character < '\u{0250}';
            words += usize::from(is_latin && !is_in_word);
            is_in_word = is_latin || (is_in_word && character == '\'');
        }
        if han > 0 && han >= words { Self::Zh } else { Self::En }
    }

    /// The language of a [`code`](Self::code).
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::Zh, Self::En].into_iter().find(|language| language.code() == code)
    }

    /// The code of the language: `zh` or `en`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_is_that_of_most_of_the_text() {
        let chinese = ["你好", "用 Python 写一个 hello world", "GPT-4o 和 Claude 哪个好？", "今天 NBA 有什么比赛"];
        let english =
            ["hello", "What does 你好 mean in English?", "25 * 4", "", "今日の天気は？", "오늘 날씨", "Don't 吧"];
        assert_eq!(chinese.map(Language::of), [Language::Zh; 4]);
        assert_eq!(english[..6].iter().map(|text| Language::of(text)).collect::<Vec<_>>(), [Language::En; 6]);
        assert_eq!(Language::of(english[6]), Language::Zh);
    }
}
