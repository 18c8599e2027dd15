use std::sync::LazyLock;

use crate::table::{self, Table};

/// Maximum distance between a keyword and its number, in characters.
pub(crate) const MAX_DISTANCE_CHARS: usize = 40;

pub(crate) const PHONE: u32 = 1;
pub(crate) const IDENTITY: u32 = 1 << 1;
pub(crate) const PASSPORT: u32 = 1 << 2;
pub(crate) const EMAIL: u32 = 1 << 3;
/// Latin keywords of all kinds, including cards, that may touch the number.
pub(crate) const TOUCHING: u32 = 1 << 4;

/// The keywords, by bit.
#[cfg(test)]
const LISTS: [&str; 5] = [
    "电话,電話,手机,手機,联系方式,聯繫方式,联系,致电,座机,传真,热线,拨打,电话号码,tel,phone,telephone,mobile,cell,\
    cellphone,fax,call,whatsapp,wechat,dial,hotline",
    "身份证,身份證,证件,證件,公民身份,id,id card,identity card,identity,identification,hkid,ssn,social security,\
    national id",
    "护照,護照,passport,passeport,reisepass",
    "邮箱,郵箱,邮件,郵件,电邮,電郵,email,e-mail,mail,mailbox",
    "tel,phone,telephone,mobile,cell,fax,whatsapp,id,ssn,card,no,visa,mastercard,passport",
];

/// Connectives between a keyword and its number.
#[cfg(test)]
const CONNECTIVES: &str = "number,num,nr,no,is,at,me on,me,us,号码,號碼,号,號,为,是";

/// Marks between a keyword and its number.
#[cfg(test)]
const MARKS: &str = r#"[\x20:=\-.\#()'"*,、|]*"#;

/// Units and currencies after an amount.
const UNITS: &str = "元,万,亿,块,%,％,美元,日元,港元,港币,人民币,欧元,円,원";

/// Currencies in letters after an amount.
const CURRENCIES: &str = "usd,cny,rmb,eur,gbp,jpy,hkd,dollars";

/// The lists, read backwards from the number.
#[cfg(test)]
pub(crate) fn patterns() -> Vec<String> {
    let (connectives, marks) = (backwards(CONNECTIVES), MARKS);
    LISTS.map(|list| format!("(?-i){marks}(?:(?:{connectives}){marks})*(?:{})", backwards(list))).to_vec()
}

pub(crate) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(table::KEYWORDS));

/// A pattern of the keywords of a list with their characters in reverse order. Latin keywords are whole terms.
#[cfg(test)]
fn backwards(list: &str) -> String {
    let reverse = |keyword: &str| {
        let reversed: String = keyword.chars().rev().collect();
        reversed.replace(' ', r"\x20") + if keyword.is_ascii() { r"(?-u:\b)" } else { "" }
    };
    list.split(',').map(reverse).collect::<Vec<String>>().join("|")
}

/// The lists of which a keyword ends the characters, which are in reverse order, before connectives and marks.
pub(crate) fn before(characters: &[char]) -> u32 {
    let (mut text, mut lists) = (String::with_capacity(2 * characters.len()), 0);
    for (at, c) in characters.iter().enumerate() {
        let is_lowercase = |at: usize| characters.get(at).is_some_and(char::is_ascii_lowercase);
        text.push(if *c == '_' { ' ' } else { c.to_ascii_lowercase() });
        if c.is_ascii_uppercase() && is_lowercase(at + 1) && is_lowercase(at + 2) {
            text.push(' ');
        }
    }
    TABLE.scan(text.as_bytes(), |_, found| lists |= found);
    lists
}

pub(crate) fn is_unit(text: &str) -> bool {
    let code = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    UNITS.split(',').any(|unit| text.starts_with(unit))
        || CURRENCIES.split(',').any(|currency| currency.eq_ignore_ascii_case(code))
}
