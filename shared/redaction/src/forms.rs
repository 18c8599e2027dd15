//! The forms of personal data as patterns. They match a candidate as a whole, with its groups of digits separated by one
//! mark each: a space, `-`, `.` (`,` with spaces around it), `/`, `(`, `)`, or `b` for a pair of parentheses.

use std::sync::LazyLock;

use bounded_regex::{Captures, Limits, Regex};

/// A pattern, compiled when it is first used.
pub(crate) type Form = LazyLock<Option<Regex>>;

/// The limits of the patterns below.
const LIMITS: Limits = Limits { max_bytes: 4096, max_compiled_bytes: 256 * 1024 };

/// Compiles a pattern in which white space has no meaning; the tests have a case for each row of each pattern.
fn compile(pattern: &str) -> Option<Regex> {
    bounded_regex::compile(&format!("(?xi){}", pattern.replace('_', r"[\x20().,\-b]")), LIMITS)
}

/// Whether a text has a form.
pub(crate) fn matches(form: &Form, text: &str) -> bool {
    #[cfg(test)]
    crate::tests::count_work(text.len());
    form.as_ref().is_some_and(|form| form.is_match(text))
}

/// The named parts of a text that has a form.
pub(crate) fn captures<'t>(form: &Form, text: &'t str) -> Option<Captures<'t>> {
    #[cfg(test)]
    crate::tests::count_work(text.len());
    form.as_ref()?.captures(text)
}

/// Telephone numbers without `+`. `_` is a separator.
/// Only a Chinese mobile number may have `/` in it.
pub(crate) static PHONE: Form = LazyLock::new(|| {
    compile(
        r"\A\(?(?:
        # A Chinese mobile number, optionally after 86, 0086 or 0.
        (?:(?:86|0086)\D?|0)? 1[3-9] (?:\d{9} | \d\D\d{4}\D\d{4} | \d\D\d{8} | \d{5}\D\d{4} | \d\d\D\d{3}\D\d{4})
        | (?:(?:86|0086)\D?|0)? (?:1[3-8]\d\d\D\d{4} | 19\d\d\D(?:[03-9]\d|1[0-8])\d\d) \D\d{3}
        # A landline of mainland China with its area code.
        | (?:010|02\d) (?:[2-8]\d{7} | _[2-9]\d{7} | _[2-9]\d{3}_\d{4})
        | 0[3-9]\d\d (?:[2-8]\d{6,7} | _[2-9]\d{6,7} | _[2-9]\d{2,3}_\d{4})
        # A leading 0 and an area code: of Britain, Taiwan, Japan and others.
        | 07[1-9]\d{8} | 0[5-9]0\d{8} | 09\d{8}
        )\z",
    )
});

/// Chinese and American toll-free numbers, which may also be round amounts.
pub(crate) static SERVICE: Form = LazyLock::new(|| {
    compile(
        r"\A\(?[48]00 (?:\d{7} | _\d{3}_\d{4} | _\d{4}_\d{3} | \d_\d{3}_\d{3} | _\d{7} | \d{3}_\d{4} | \d{4}_\d{3})\z",
    )
});

/// A North American number; at least one separator is no space.
pub(crate) static AMERICAN: Form = LazyLock::new(|| {
    compile(
        r"\A(?: \(?(?:1_)?[2-9]\d\d_[2-9]\d\d[().,\-b]\d{4} | \(?(?:1_)?[2-9]\d\d[().,\-b][2-9]\d\d_\d{4}
        | \(?1[().,\-b][2-9]\d\d_[2-9]\d\d_\d{4} | \([2-9]\d\d_[2-9]\d{6} )\z",
    )
});

/// An area code after 0 and groups of 9 to 11 digits together.
pub(crate) static TRUNK: Form =
    LazyLock::new(|| compile(r"\A(?:\(?0[1-9]\d{1,3}_ | \(0[1-9]_ | 0[1-9]-)\d{3,}(?:_\d{3,}){0,2}\z"));

/// 00 and a country code in a separate group.
pub(crate) static EXIT_CODE: Form = LazyLock::new(|| compile(r"\A\(?00[1-9]\d{0,2}(?:_\d{2,})+\z"));

/// The digits after `+`.
pub(crate) static INTERNATIONAL: Form = LazyLock::new(|| {
    compile(
        r"\A(?: 86(?:1[3-9]\d{8,9} | (?:[02-9]\d|1[0-2])\d{7,10}) | [17]\d{10} | (?:[2-69]\d|8[0-57-9])\d{6,13} )\z",
    )
});

/// A date, which is no number after a keyword.
pub(crate) static DATE: Form = LazyLock::new(|| compile(r"\A\(?(?: \d{4}\D\d\d?\D\d\d? | \d\d?\D\d\d?\D\d{4} )\z"));

/// The digits of payment cards by issuer.
pub(crate) static CARD: Form = LazyLock::new(|| {
    compile(
        r"\A(?: 4(?:\d{12}|\d{15}|\d{18}) | 5[1-5]\d{14} | 2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12} # Visa, Mastercard
        | 3[47]\d{13} | 3(?:0[0-5]|6\d|[89]\d)\d{11,13} | 3095\d{10,12} # American Express, Diners Club
        | 6[05]\d{14,17} | 64[4-9]\d{13,16} | 35(?:2[89]|[3-8]\d)\d{12,15} # Discover, RuPay, JCB
        | (?:62|8[12])\d{14,17} | 955[89]\d{12,15} | 220[0-4]\d{12,15} | 9792\d{12} # UnionPay, Mir, Troy
        | (?:50|5[6-8]|63|67|69)\d{14,17} | (?:5018|6759|676[0-3])\d{9,11} # Maestro
        )\z",
    )
});

/// A resident identity card of mainland China, with its region and date of birth.
pub(crate) static RESIDENT: Form = LazyLock::new(|| {
    compile(
        r"\A(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]|91)\d{4}(?:(?:19|20)\d\d(?:0[1-9]|1[0-2])
        (?:0[1-9]|[12]\d|3[01])\d{3}[\dX] | \d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3})\z",
    )
});

/// A social security or taxpayer number of the United States.
pub(crate) static SOCIAL_SECURITY: Form = LazyLock::new(|| {
    let area = r"(?:0(?:0[1-9]|[1-9]\d)|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9]))";
    let (group, serial) = (r"(?:0[1-9]|[1-9]\d)", r"(?:\d{3}[1-9]|\d\d[1-9]0|\d[1-9]00|[1-9]000)");
    compile(&format!(
        r"\A(?:{area}-{group}-{serial}|{area}\x20{group}\x20{serial}|9\d\d(?:-[5-9]\d-|\x20[5-9]\d\x20){serial})\z"
    ))
});

/// `YYMMDD-GNNNNNC`.
pub(crate) static KOREAN: Form =
    LazyLock::new(|| compile(r"\A\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}\z"));

/// `000.000.000-00`.
pub(crate) static BRAZILIAN: Form = LazyLock::new(|| compile(r"\A\d{3}\.\d{3}\.\d{3}-\d\d\z"));

/// Where an identity number that begins with a letter may end: Hong Kong, Britain, and tokens of other countries.
pub(crate) static LETTERED: Form = LazyLock::new(|| {
    compile(
        r"\A(?: (?<hk>[A-Z]{1,2}\d{6}\([\dA]\))
        | (?<gb>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\x20?\d\d\x20?\d\d\x20?\d\d\x20?[A-D])
        | (?<token>[A-Z]{1,2}\d{6,9}[A-Z]?) )(?:[^0-9A-Z]|\z)",
    )
});

/// A letter, the sex and eight digits.
pub(crate) static TAIWANESE: Form = LazyLock::new(|| compile(r"\A[A-Z][1289A-D]\d{8}\z"));

/// Seven digits between two letters.
pub(crate) static SINGAPOREAN: Form = LazyLock::new(|| compile(r"\A[STFG]\d{7}[A-Z]\z"));

/// One or two letters, six digits and a check character, without parentheses.
pub(crate) static HONG_KONG: Form = LazyLock::new(|| compile(r"\A[A-Z]{1,2}\d{6}[\dA]\z"));

/// A host as it follows `@`, with the character after it. `\x01` is a letter, `\x02` one of a script without spaces.
pub(crate) static HOST: Form = LazyLock::new(|| {
    let label = r"[0-9a-z\x01](?:[0-9a-z\x01\-]*[0-9a-z\x01])?";
    compile(&format!(
        r"\A(?: (?<host>(?:{label}\.|\x02[0-9a-z\x01\x02\-]*[.\x03])+(?:[a-z\x01]{{2,}}|\x02{{2,}}|xn--[0-9a-z\-]*[0-9a-z]))
        | (?<stop>(?:{label}\x03)+(?:{TOP})) | (?<address>\[(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|ipv6:[0-9a-f:.]{{2,45}})\]) )
        (?:-*[^0-9a-z\x01\-]|-*\z)"
    ))
});

/// A host in a spelling for people: `example [dot] com`, `example dot com`.
pub(crate) static SPELLED_HOST: Form = LazyLock::new(|| {
    let label = r"[0-9a-z](?:[0-9a-z\-]*[0-9a-z])?";
    let dot = r"(?:\.|\x20?[\[({]dot[\])}]\x20?|\x20dot\x20)";
    compile(&format!(r"\A(?<host>{label}(?:{dot}{label})*{dot}(?:{TOP}))(?:[^0-9a-z\x01\-]|\z)"))
});

/// Top-level domains that are also recognised in unusual spellings.
const TOP: &str = "com|net|org|edu|gov|info|io|ai|app|dev|me|co|cn|hk|tw|sg|jp|kr|de|fr|uk|us|eu|ru";
