//! Sums in a question, as expressions of the calculator.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::CONVERSATION;

/// Numerals of English and of Chinese, and what one of their terms means.
static NUMERAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = |is_ascii: bool| {
        let names = CONVERSATION.numerals.keys().filter(|name| name.is_ascii() == is_ascii);
        names.map(String::as_str).collect::<Vec<_>>().join("|")
    };
    let (english, chinese) = (names(true), names(false));
    Regex::new(&format!(r"\b(?:(?:hundred|thousand|million) and |(?:{english})[- ])*(?:{english})\b|(?:{chinese})+"))
        .ok()
});

/// Patterns of phrases, and the notation that replaces each.
static PHRASES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let phrases = CONVERSATION.sum_phrases.iter();
    phrases.filter_map(|(pattern, notation)| Some((Regex::new(pattern).ok()?, notation.as_str()))).collect()
});

/// Returns the arithmetic expression of a question that has nothing else: at least one digit and one operator.
pub(super) fn sum(question: &str) -> Option<String> {
    let text = without_phrases(question.trim().to_lowercase());
    let digits = |found: &Captures<'_>| value(&found[0]).map_or_else(|| found[0].to_owned(), |value| value.to_string());
    let text = without_phrases(NUMERAL.as_ref()?.replace_all(&text, digits).into_owned());
    let sum = text.trim_matches([' ', '?', '？', '=', '＝', '。', '，', '.', ',']);
    let signs = sum.replace("% of ", "%").replace("sqrt(", "√(");
    let is_sum = signs.chars().all(|c| c.is_ascii_digit() || " +-*/^().,%×÷√".contains(c));
    let operates = signs.trim_start_matches('-').contains(['+', '-', '*', '/', '^', '%', '×', '÷', '√']);
    let ends = signs.ends_with(|c: char| c.is_ascii_digit() || ")%".contains(c));
    (is_sum && operates && ends && sum.contains(|c: char| c.is_ascii_digit())).then(|| sum.to_owned())
}

fn without_phrases(text: String) -> String {
    PHRASES.iter().fold(text, |text, (pattern, notation)| pattern.replace_all(&text, *notation).into_owned())
}

/// The value of a numeral, such as three hundred and five or 三百零五; `None` above a million billions.
fn value(numeral: &str) -> Option<u64> {
    let (mut parts, mut last) = (Vec::<u64>::new(), None);
    let names: Vec<&str> = match numeral.split([' ', '-']) {
        names if numeral.is_ascii() => names.filter(|name| *name != "and").collect(),
        _ => numeral.split("").filter(|name| !name.is_empty()).collect(),
    };
    for (at, name) in names.iter().enumerate() {
        let value = *CONVERSATION.numerals.get(*name)?;
        let before = last.replace(value);
        match parts.last_mut() {
            Some(part) if value < 10 && before.is_some_and(|before| before < 10) => {
                *part = part.saturating_mul(10).saturating_add(value);
            }
            _ if value >= 100 || *name == "十" => {
                // What is smaller counts in this unit.
                let start = parts.iter().position(|part| *part < value).unwrap_or(parts.len());
                let count = parts.drain(start..).fold(0, u64::saturating_add);
                parts.push(count.max(1).saturating_mul(value));
            }
            // 三百五 is 350.
            _ if value < 10 && !name.is_ascii() && at + 1 == names.len() => {
                let unit = before.filter(|unit| *unit >= 100).map_or(1, |unit| unit / 10);
                parts.push(value * unit);
            }
            _ => parts.push(value),
        }
    }
    Some(parts.into_iter().fold(0, u64::saturating_add)).filter(|value| *value < 1_000_000_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals_have_their_values() {
        for (numeral, expected) in [
            ("twelve", 12),
            ("three hundred and twenty-five", 325),
            ("two hundred thousand", 200_000),
            ("one million two thousand and six", 1_002_006),
            ("三百二十五", 325),
            ("十二", 12),
            ("一百一十", 110),
            ("三百零五", 305),
            ("一百五十五", 155),
            ("三百五", 350),
            ("两万五", 25_000),
            ("三千五百万", 35_000_000),
            ("一亿三千万", 130_000_000),
            ("二〇二六", 2026),
            ("八五", 85),
        ] {
            assert_eq!(value(numeral), Some(expected), "{numeral}");
        }
        assert_eq!(value(&"九".repeat(30)), None);
    }

    #[test]
    fn sums_are_read_from_usual_phrases() {
        for (question, expected) in [
            ("What is 12 * (3 + 4)?", "12 * (3 + 4)"),
            ("What is 12.5% of 80?", "12.5% of 80"),
            ("what is twelve times twelve", "12 × 12"),
            ("How much is three hundred and five divided by five?", "305 ÷ 5"),
            ("15 percent of 80", "15% of 80"),
            ("20% off $80", "80 - 20% of 80"),
            ("What’s 7 plus 8 minus two?", "7 + 8 - 2"),
            ("3 x 4", "3 × 4"),
            ("square root of 144", "sqrt(144)"),
            ("What is 12 squared?", "12^2"),
            ("What is 2 to the power of ten?", "2^10"),
            ("What is the sum of five and seven?", "5 + 7"),
            ("half of 90", "90 ÷ 2"),
            ("How much is a hundred divided by seven", "100 ÷ 7"),
            ("100 的 15% 是多少", "15% of 100"),
            ("100减去三十五，再乘以2", "(100-35)×2"),
            ("1234×5678等于多少？", "1234×5678"),
            ("三百二十五乘以四是多少", "325×4"),
            ("1200元打八五折是多少", "1200×0.85"),
            ("原价300元打8折多少钱？", "300×0.8"),
            ("80的百分之十五是多少？", "15% of 80"),
            ("一百加二百减五十等于几", "100+200-50"),
            ("请帮我算一下 12 除以 5", "12 ÷ 5"),
            ("144的平方根是多少", "sqrt(144)"),
            ("九的平方", "9^2"),
            ("三分之一加二分之一", "(1/3)+(1/2)"),
        ] {
            assert_eq!(sum(question).as_deref(), Some(expected), "{question}");
        }
        let others =
            ["-5", "2026", "三国演义", "一加", "What is one?", "七上八下", "two and two", "5 apples times 3", "c++"];
        for question in others {
            assert_eq!(sum(question), None, "{question}");
        }
    }
}
