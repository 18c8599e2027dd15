//! The forms of personal data as patterns; the tests have a case for each row of each pattern.

use std::sync::LazyLock;

use crate::automaton::Automaton;

pub(crate) const PHONE: u16 = 1;
pub(crate) const SERVICE: u16 = 1 << 1;
pub(crate) const TRUNK: u16 = 1 << 2;
pub(crate) const EXIT_CODE: u16 = 1 << 3;
pub(crate) const DATE: u16 = 1 << 4;
pub(crate) const OLD_RESIDENT: u16 = 1 << 5;
pub(crate) const SOCIAL_SECURITY: u16 = 1 << 6;
pub(crate) const KOREAN: u16 = 1 << 7;
pub(crate) const BRAZILIAN: u16 = 1 << 8;

/// A candidate with its groups of digits separated by one mark each: a space, `-`, `.` (`,` with spaces around it), `/`,
/// `(`, `)`, or `b` for a pair of parentheses. `_` is any of them but `/`.
pub(crate) static FORMS: LazyLock<Automaton> = LazyLock::new(|| {
    let separator = r"[\x20().,\-b]";
    Automaton::new(&PATTERNS.map(|pattern| pattern.replace('_', separator)).each_ref().map(String::as_str))
});

const PATTERNS: [&str; 9] = [
    // Only a Chinese mobile number may have `/` in it.
    r"\(?(?:
        # A Chinese mobile number, optionally after 86, 0086 or 0.
        (?:(?:86|0086)\D?|0)? 1[3-9] (?:\d{9} | \d\D\d{4}\D\d{4} | \d\D\d{8} | \d{5}\D\d{4} | \d\d\D\d{3}\D\d{4})
        | (?:(?:86|0086)\D?|0)? (?:1[3-8]\d\d\D\d{4} | 19\d\d\D(?:[03-9]\d|1[0-8])\d\d) \D\d{3}
        # A landline of mainland China with its area code.
        | (?:010|02\d) (?:[2-8]\d{7} | _[2-9]\d{7} | _[2-9]\d{3}_\d{4})
        | 0[3-9]\d\d (?:[2-8]\d{6,7} | _[2-9]\d{6,7} | _[2-9]\d{2,3}_\d{4})
        # A leading 0 and an area code: of Britain, Taiwan, Japan and others.
        | 07[1-9]\d{8} | 0[5-9]0\d{8} | 09\d{8}
        # A North American number; at least one separator is no space.
        | (?:1_)?[2-9]\d\d_[2-9]\d\d[().,\-b]\d{4} | (?:1_)?[2-9]\d\d[().,\-b][2-9]\d\d_\d{4}
        | 1[().,\-b][2-9]\d\d_[2-9]\d\d_\d{4} ) | \([2-9]\d\d_[2-9]\d{6}",
    // Chinese and American toll-free numbers, which may also be round amounts.
    r"\(?[48]00 (?:\d{7} | _\d{3}_\d{4} | _\d{4}_\d{3} | \d_\d{3}_\d{3} | _\d{7} | \d{3}_\d{4} | \d{4}_\d{3})",
    // An area code after 0 and groups of 9 to 11 digits together.
    r"(?:\(?0[1-9]\d{1,3}_ | \(0[1-9]_ | 0[1-9]-)\d{3,}(?:_\d{3,}){0,2}",
    // 00 and a country code in a separate group.
    r"\(?00[1-9]\d{0,2}(?:_\d{2,})+",
    // A date, which is no number after a keyword.
    r"\(?(?: \d{4}\D\d\d?\D\d\d? | \d\d?\D\d\d?\D\d{4} )",
    // A resident identity card of mainland China until 1999.
    r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]|91)\d{6}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}",
    // A social security or taxpayer number of the United States.
    r"(?: (?:0(?:0[1-9]|[1-9]\d)|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9])) (?:-(?:0[1-9]|[1-9]\d)-|\x20(?:0[1-9]|[1-9]\d)\x20)
        | 9\d\d(?:-[5-9]\d-|\x20[5-9]\d\x20) )(?:\d{3}[1-9]|\d\d[1-9]0|\d[1-9]00|[1-9]000)",
    // YYMMDD-GNNNNNC.
    r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}",
    // 000.000.000-00.
    r"\d{3}\.\d{3}\.\d{3}-\d\d",
];

pub(crate) const CARD: u16 = 1;
pub(crate) const INTERNATIONAL: u16 = 1 << 1;
pub(crate) const RESIDENT: u16 = 1 << 2;

/// The digits of a candidate.
pub(crate) static DIGITS: LazyLock<Automaton> = LazyLock::new(|| {
    Automaton::new(&[
        // Payment cards by issuer.
        r"4(?:\d{12}|\d{15}|\d{18}) | 5[1-5]\d{14} | 2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12} # Visa, Mastercard
        | 3[47]\d{13} | 3(?:0[0-5]|6\d|[89]\d)\d{11,13} | 3095\d{10,12} # American Express, Diners Club
        | 6[05]\d{14,17} | 64[4-9]\d{13,16} | 35(?:2[89]|[3-8]\d)\d{12,15} # Discover, RuPay, JCB
        | (?:62|8[12])\d{14,17} | 955[89]\d{12,15} | 220[0-4]\d{12,15} | 9792\d{12} # UnionPay, Mir, Troy
        | (?:50|5[6-8]|63|67|69)\d{14,17} | (?:5018|6759|676[0-3])\d{9,11} # Maestro",
        // What follows `+`.
        r"86(?:1[3-9]\d{8,9} | (?:[02-9]\d|1[0-2])\d{7,10}) | [17]\d{10} | (?:[2-69]\d|8[0-57-9])\d{6,13}",
        // A resident identity card of mainland China, with its region and date of birth.
        r"(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]|91)\d{4}
        (?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX]",
    ])
});

pub(crate) const HONG_KONG: u16 = 1;
pub(crate) const BRITISH: u16 = 1 << 1;
pub(crate) const TOKEN: u16 = 1 << 2;
pub(crate) const TAIWANESE: u16 = 1 << 3;
pub(crate) const SINGAPOREAN: u16 = 1 << 4;
pub(crate) const BARE_HONG_KONG: u16 = 1 << 5;

/// An identity number that begins with a letter.
pub(crate) static LETTERED: LazyLock<Automaton> = LazyLock::new(|| {
    Automaton::new(&[
        r"[A-Z]{1,2}\d{6}\([\dA]\)",
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\x20?\d\d\x20?\d\d\x20?\d\d\x20?[A-D]",
        r"[A-Z]{1,2}\d{6,9}[A-Z]?",
        r"[A-Z][1289A-D]\d{8}",
        r"[STFG]\d{7}[A-Z]",
        r"[A-Z]{1,2}\d{6}[\dA]",
    ])
});

/// A host as it follows `@`. `\x01` is a letter, `\x02` one of a script without spaces, `\x03` its full stop.
pub(crate) static HOST: LazyLock<Automaton> = LazyLock::new(|| {
    let label = r"[0-9a-z\x01](?:[0-9a-z\x01\-]*[0-9a-z\x01])?";
    Automaton::new(&[&format!(
        r"(?:{label}\.|\x02[0-9a-z\x01\x02\-]*[.\x03])+(?:[a-z\x01]{{2,}}|\x02{{2,}}|xn--[0-9a-z\-]*[0-9a-z])
        | (?:{label}\x03)+(?:{TOP}) | \[(?:\d{{1,3}}(?:\.\d{{1,3}}){{3}}|ipv6:[0-9a-f:.]{{2,45}})\]"
    )])
});

/// A host in a spelling for people: `example [dot] com`, `example dot com`.
pub(crate) static SPELLED_HOST: LazyLock<Automaton> = LazyLock::new(|| {
    let label = r"[0-9a-z](?:[0-9a-z\-]*[0-9a-z])?";
    let dot = r"(?:\.|\x20?[\[({]dot[\])}]\x20?|\x20dot\x20)";
    Automaton::new(&[&format!(r"{label}(?:{dot}{label})*{dot}(?:{TOP})")])
});

/// Top-level domains that are also recognised in unusual spellings.
const TOP: &str = "com|net|org|edu|gov|info|io|ai|app|dev|me|co|cn|hk|tw|sg|jp|kr|de|fr|uk|us|eu|ru";
