//! Keywords that identify the number after them; the lists are separated by commas.

use std::sync::LazyLock;

type Keywords = LazyLock<Vec<&'static str>>;

/// Maximum distance between a keyword and its number, in characters.
pub(crate) const MAX_DISTANCE_CHARS: usize = 40;

/// Keywords before a telephone number.
pub(crate) static PHONE: Keywords = LazyLock::new(|| {
    "电话,電話,手机,手機,联系方式,聯繫方式,联系,致电,座机,传真,热线,拨打,电话号码,tel,phone,telephone,\
    mobile,cell,cellphone,fax,call,whatsapp,wechat,dial,hotline"
        .split(',')
        .collect()
});

/// Keywords before an identity number.
pub(crate) static IDENTITY: Keywords = LazyLock::new(|| {
    "身份证,身份證,证件,證件,公民身份,id,id card,identity card,identity,identification,hkid,ssn,\
    social security,national id"
        .split(',')
        .collect()
});

/// Keywords before a passport number.
pub(crate) static PASSPORT: Keywords = LazyLock::new(|| "护照,護照,passport,passeport,reisepass".split(',').collect());

/// Keywords before an e-mail address.
pub(crate) static EMAIL: Keywords =
    LazyLock::new(|| "邮箱,郵箱,邮件,郵件,电邮,電郵,email,e-mail,mail,mailbox".split(',').collect());

/// Latin keywords of all kinds, including cards, that may touch the number.
pub(crate) static ANY: Keywords = LazyLock::new(|| {
    "tel,phone,telephone,mobile,cell,fax,whatsapp,id,ssn,card,no,visa,mastercard,passport".split(',').collect()
});

/// Connectives between a keyword and its number.
static CONNECTIVES: Keywords =
    LazyLock::new(|| "number,num,nr,no,is,at,me on,me,us,号码,號碼,号,號,为,是".split(',').collect());

/// Units and currencies after an amount.
static UNITS: Keywords =
    LazyLock::new(|| "元,万,亿,块,%,％,美元,日元,港元,港币,人民币,欧元,円,원".split(',').collect());

/// Currencies in letters after an amount.
static CURRENCIES: Keywords = LazyLock::new(|| "usd,cny,rmb,eur,gbp,jpy,hkd,dollars".split(',').collect());

/// Whether a character may be between a keyword and its number.
pub(crate) fn is_mark(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | ':' | '：' | '=' | '-' | '_' | '.' | '#' | '(' | ')' | '（' | '）' | '\'' | '"' | '*' | ',' | '，'
    ) || matches!(c, '、' | '|' | '为' | '是')
}

/// Whether a text ends with one of the keywords and then only connectives and marks.
pub(crate) fn end(text: &str, keywords: &[&str]) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_end_matches(is_mark);
        if keywords.iter().any(|keyword| ends_with_keyword(rest, keyword)) {
            return true;
        }
        let connective = CONNECTIVES.iter().find(|connective| ends_with_keyword(rest, connective));
        let Some(shorter) = connective.and_then(|connective| rest.strip_suffix(connective)) else { return false };
        rest = shorter;
    }
}

fn ends_with_keyword(text: &str, keyword: &str) -> bool {
    if text.as_bytes().last() != keyword.as_bytes().last() {
        return false;
    }
    let Some(before) = text.strip_suffix(keyword) else { return false };
    !keyword.is_ascii() || !before.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// Whether a text begins with a unit or currency of an amount.
pub(crate) fn is_unit(text: &str) -> bool {
    let code = text.find(|c: char| !c.is_ascii_alphabetic()).map_or(text, |end| text.get(..end).unwrap_or_default());
    UNITS.iter().any(|unit| text.starts_with(unit))
        || CURRENCIES.iter().any(|currency| currency.eq_ignore_ascii_case(code))
}
