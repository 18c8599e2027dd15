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
    /// The language of a text: Chinese if it has at least as many Han characters as runs of Latin letters, English
    /// otherwise; URLs do not count. A text with kana or hangul is in neither language and counts as English.
    pub fn of(text: &str) -> Self {
        let (mut han, mut latin_runs, mut in_run) = (0_usize, 0_usize, false);
        let outside_urls = text
            .split_whitespace()
            .flat_map(|part| part.split_once("://").map_or(part, |(before, _)| before).chars().chain([' ']));
        for character in outside_urls {
            match character {
                '\u{3040}'..='\u{30FF}' | '\u{AC00}'..='\u{D7AF}' => return Self::En,
                '\u{3400}'..='\u{9FFF}' => han += 1,
                _ => {}
            }
            let is_latin = character.is_alphabetic() && character < '\u{0250}';
            latin_runs += usize::from(is_latin && !in_run);
            in_run = is_latin || (in_run && character == '\'');
        }
        if han > 0 && han >= latin_runs { Self::Zh } else { Self::En }
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
    fn language_is_the_prevailing_one() {
        for chinese in [
            "你好",
            "用 Python 写一个 hello world",
            "GPT-4o 和 Claude 哪个好？",
            "今天 NBA 有什么比赛",
            "讲讲https://a.example/one/two",
        ] {
            assert_eq!(Language::of(chinese), Language::Zh, "{chinese}");
        }
        for english in ["hello", "What does 你好 mean in English?", "25 * 4", "", "今日の天気は？", "오늘 날씨"]
        {
            assert_eq!(Language::of(english), Language::En, "{english}");
        }
    }

    #[test]
    fn codes_are_read_back() {
        assert_eq!(["zh", "en", "fr"].map(Language::from_code), [Some(Language::Zh), Some(Language::En), None]);
    }
}
