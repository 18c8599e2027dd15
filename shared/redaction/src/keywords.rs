//! Keywords that identify the number after them.

use crate::characters::{fold, is_invisible, next, previous};

/// Maximum distance between a keyword and its number, in characters.
const MAX_DISTANCE_CHARS: usize = 40;

/// Keywords before a telephone number.
pub(crate) const PHONE: &[&str] = &[
    "电话",
    "電話",
    "手机",
    "手機",
    "联系方式",
    "聯繫方式",
    "联系",
    "致电",
    "座机",
    "传真",
    "热线",
    "拨打",
    "电话号码",
    "tel",
    "phone",
    "telephone",
    "mobile",
    "cell",
    "cellphone",
    "fax",
    "call",
    "whatsapp",
    "wechat",
    "dial",
    "hotline",
];

/// Keywords before an identity number.
pub(crate) const IDENTITY: &[&str] = &[
    "身份证",
    "身份證",
    "证件",
    "證件",
    "公民身份",
    "id",
    "id card",
    "identity card",
    "identity",
    "identification",
    "hkid",
    "ssn",
    "social security",
    "national id",
];

/// Keywords before a passport number.
pub(crate) const PASSPORT: &[&str] = &["护照", "護照", "passport", "passeport", "reisepass"];

/// Latin keywords of all kinds, including cards, that may touch the number.
pub(crate) const ANY: &[&str] = &[
    "tel",
    "phone",
    "telephone",
    "mobile",
    "cell",
    "fax",
    "whatsapp",
    "id",
    "ssn",
    "card",
    "no",
    "visa",
    "mastercard",
    "passport",
];

/// Connectives between a keyword and its number.
const CONNECTIVES: &[&str] =
    &["number", "num", "nr", "no", "is", "at", "me on", "me", "us", "号码", "號碼", "号", "號", "为", "是"];

/// Marks between a keyword and its number.
const MARKS: &str = " :：=-.#()（）'\"*,，、|\t为是";

/// Whether one of the keywords precedes `at`, separated only by connectives and marks.
pub(crate) fn is_before(text: &str, at: usize, keywords: &[&str]) -> bool {
    let tail = folded_tail(text, at);
    let mut rest = tail.as_str();
    loop {
        rest = rest.trim_end_matches(|c| MARKS.contains(c));
        if keywords.iter().any(|keyword| ends_with_keyword(rest, keyword)) {
            return true;
        }
        let shorter = CONNECTIVES.iter().find(|connective| ends_with_keyword(rest, connective));
        match shorter.and_then(|connective| rest.strip_suffix(connective)) {
            Some(shorter) => rest = shorter,
            None => return false,
        }
    }
}

/// The visible characters before `at`, folded, in lower case, with a space before a capital inside a name: `userPhone`
/// becomes `user phone`, `iPhone` stays one keyword.
fn folded_tail(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let mut last: Vec<char> = before.chars().rev().filter(|c| !is_invisible(*c)).take(MAX_DISTANCE_CHARS).collect();
    last.reverse();
    let mut tail = String::with_capacity(MAX_DISTANCE_CHARS);
    let mut lowercase_run = 0;
    for c in last.into_iter().map(fold) {
        if lowercase_run > 1 && c.is_ascii_uppercase() {
            tail.push(' ');
        }
        lowercase_run = if c.is_ascii_lowercase() { lowercase_run + 1 } else { 0 };
        tail.push(c.to_ascii_lowercase());
    }
    tail
}

fn ends_with_keyword(text: &str, keyword: &str) -> bool {
    let Some(before) = text.strip_suffix(keyword) else { return false };
    !keyword.is_ascii() || !before.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// Whether a number is an amount of money or a percentage.
pub(crate) fn is_amount(text: &str, start: usize, end: usize) -> bool {
    const UNITS: [&str; 14] =
        ["元", "万", "亿", "块", "%", "％", "美元", "日元", "港元", "港币", "人民币", "欧元", "円", "원"];
    const CODES: [&str; 8] = ["usd", "cny", "rmb", "eur", "gbp", "jpy", "hkd", "dollars"];
    let mut before = previous(text, start);
    while let Some((' ', at)) = before {
        before = previous(text, at);
    }
    let mut from = end;
    while let Some((' ', after)) = next(text, from) {
        from = after;
    }
    let rest = text.get(from..).unwrap_or_default();
    let currency_code: String =
        rest.chars().take_while(char::is_ascii_alphabetic).take(8).collect::<String>().to_lowercase();
    before.is_some_and(|(c, _)| "$¥￥€£₩₹".contains(c))
        || UNITS.iter().any(|unit| rest.starts_with(unit))
        || CODES.contains(&currency_code.as_str())
}
