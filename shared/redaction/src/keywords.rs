//! Keywords that identify the number after them; the lists are separated by commas.

/// Maximum distance between a keyword and its number, in characters.
pub(crate) const MAX_DISTANCE_CHARS: usize = 40;

/// Keywords before a telephone number.
pub(crate) const PHONE: &str = "电话,電話,手机,手機,联系方式,聯繫方式,联系,致电,座机,传真,热线,拨打,电话号码,tel,phone,telephone,\
    mobile,cell,cellphone,fax,call,whatsapp,wechat,dial,hotline";

/// Keywords before an identity number.
pub(crate) const IDENTITY: &str = "身份证,身份證,证件,證件,公民身份,id,id card,identity card,identity,identification,hkid,ssn,\
    social security,national id";

/// Keywords before a passport number.
pub(crate) const PASSPORT: &str = "护照,護照,passport,passeport,reisepass";

/// Keywords before an e-mail address.
pub(crate) const EMAIL: &str = "邮箱,郵箱,邮件,郵件,电邮,電郵,email,e-mail,mail,mailbox";

/// Latin keywords of all kinds, including cards, that may touch the number.
pub(crate) const ANY: &str = "tel,phone,telephone,mobile,cell,fax,whatsapp,id,ssn,card,no,visa,mastercard,passport";

/// Connectives between a keyword and its number.
const CONNECTIVES: &str = "number,num,nr,no,is,at,me on,me,us,号码,號碼,号,號,为,是";

/// Marks between a keyword and its number.
const MARKS: &str = " :：=-_.#()（）'\"*,，、|\t为是";

/// Units and currencies after an amount.
const UNITS: &str = "元,万,亿,块,%,％,美元,日元,港元,港币,人民币,欧元,円,원";

/// Currencies in letters after an amount.
const CURRENCIES: &str = "usd,cny,rmb,eur,gbp,jpy,hkd,dollars";

/// Whether a text ends with one of the keywords and then only connectives and marks.
pub(crate) fn end(text: &str, keywords: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_end_matches(|c| MARKS.contains(c));
        if keywords.split(',').any(|keyword| ends_with_keyword(rest, keyword)) {
            return true;
        }
        let connective = CONNECTIVES.split(',').find(|connective| ends_with_keyword(rest, connective));
        let Some(shorter) = connective.and_then(|connective| rest.strip_suffix(connective)) else { return false };
        rest = shorter;
    }
}

fn ends_with_keyword(text: &str, keyword: &str) -> bool {
    let Some(before) = text.strip_suffix(keyword) else { return false };
    !keyword.is_ascii() || !before.ends_with(|c: char| c.is_ascii_alphanumeric())
}

/// Whether a text begins with a unit or currency of an amount.
pub(crate) fn is_unit(text: &str) -> bool {
    let code = text.find(|c: char| !c.is_ascii_alphabetic()).map_or(text, |end| text.get(..end).unwrap_or_default());
    UNITS.split(',').any(|unit| text.starts_with(unit))
        || CURRENCIES.split(',').any(|currency| currency.eq_ignore_ascii_case(code))
}
