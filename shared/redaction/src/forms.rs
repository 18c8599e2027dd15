//! The forms of personal data as patterns, and what else identifies it; the tests have a case for each row of each pattern.

use std::sync::LazyLock;

use crate::candidate::Candidate;
use crate::table::{self, Table};
use crate::{DataKind, checks, keywords};

/// A number with one mark between its groups of digits, and whether such a number is personal data.
///
/// `%` is any mark, `_` any but `/`, `&` any but `/` and a space, `~` a hyphen.
type Form = (&'static str, fn(&Candidate<'_>) -> bool);

/// The forms of one kind: in tables for several kinds each digit would multiply the states.
pub(crate) struct Forms {
    pub(crate) kind: DataKind,
    pub(crate) rows: &'static [Form],
    pub(crate) table: Table,
}

pub(crate) static FORMS: LazyLock<[Forms; 3]> = LazyLock::new(|| {
    [
        Forms { kind: DataKind::Id, rows: IDS, table: Table::read(table::IDS) },
        Forms { kind: DataKind::Card, rows: CARDS, table: Table::read(table::CARDS) },
        Forms { kind: DataKind::Phone, rows: PHONES, table: Table::read(table::PHONES) },
    ]
});

/// The patterns of each kind's table, by the name of its file.
#[cfg(test)]
pub(crate) fn patterns() -> [(&'static str, Vec<String>); 3] {
    [("ids", r"\(?\+?", IDS), ("cards", r"\(?\+?", CARDS), ("phones", r"\(?", PHONES)].map(|(name, lead, rows)| {
        (name, rows.iter().map(|(pattern, _)| format!("(?-u){lead}(?:{})", expand(pattern))).collect())
    })
}

#[cfg(test)]
fn expand(pattern: &str) -> String {
    let marks = [("%", r"[&/\x20]"), ("_", r"[&\x20]"), ("&", r"().~\x05\x06"), ("~", r"\-_\x04")];
    marks.iter().fold(pattern.to_owned(), |pattern, (name, marks)| pattern.replace(name, marks))
}

const IDS: &[Form] = &[
    // A resident identity card of mainland China, and its format until 1999, which has no check digit.
    (r"\d(?:%?\d){16}(?:%?\d|[\x20~]{0,3}X)", |it| checks::is_resident(&it.number())),
    (r"\d{15}", |it| it.is_after(keywords::IDENTITY) && checks::has_region_and_birth(it.text())),
    // A social security or taxpayer number of the United States.
    (
        r"(?: (?:0(?:0[1-9]|[1-9]\d)|[1-578]\d\d|6(?:[0-57-9]\d|6[0-57-9]))
            (?:[~](?:0[1-9]|[1-9]\d)[~]|\x20(?:0[1-9]|[1-9]\d)\x20)
        | 9\d\d(?:[~][5-9]\d[~]|\x20[5-9]\d\x20) )(?:\d{3}[1-9]|\d\d[1-9]0|\d[1-9]00|[1-9]000)",
        |_| true,
    ),
    // YYMMDD-GNNNNNC of Korea.
    (r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[~][1-8]\d{6}", |it| checks::is_korean(&it.number())),
    // 000.000.000-00 of Brazil.
    (r"\d{3}\.\d{3}\.\d{3}[~]\d\d", |it| checks::is_brazilian(&it.number())),
    // Spain.
    (r"(?:\d{8}[\x20~]{0,3} | [XYZ]\d{7})[A-Z]", |it| checks::is_spanish(&it.number())),
    // Hong Kong.
    (r"[A-Z]{1,2}\d{6} (?:\([\dA][)\x06] | [\dA])", |it| {
        (it.is_closed() || it.is_after(keywords::IDENTITY)) && checks::is_hong_kong(&it.number())
    }),
    // A national insurance number of Britain.
    (r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\x20?\d\d\x20?\d\d\x20?\d\d\x20?[A-D]", |_| true),
    // Taiwan.
    (r"[A-Z][1289A-D]\d{8}", |it| checks::is_taiwanese(&it.number())),
    // Singapore.
    (r"[STFG]\d{7}[A-Z]", |it| checks::is_singaporean(&it.number())),
    // A passport.
    (r"\d{9} | [A-Z]{1,2}\d{6,9}", |it| it.is_after(keywords::PASSPORT)),
];

const CARDS: &[Form] = &[
    // A payment card.
    (r"(?:\d{4,18}[\x20./~\x05]){0,4}\d{1,19}", |it| it.text().len() < 24 && checks::is_payment_card(&it.number())),
    // A bank account number (IBAN).
    (r"[A-Z]{2}\x20?\d[\x20~]{0,3}\d(?:[\x20~]{0,3}[0-9A-Z]){11,30}", |it| checks::is_iban(it.text())),
];

/// Only a Chinese mobile number may have `/` in it.
const PHONES: &[Form] = &[
    (
        r"# A Chinese mobile number, optionally after 86, 0086 or 0.
        (?:(?:86|0086)%?|0)? 1[3-9] (?:\d{9} | \d%\d{4}%\d{4} | \d%\d{8} | \d{5}%\d{4} | \d\d%\d{3}%\d{4})
        | (?:(?:86|0086)%?|0)? (?:1[3-8]\d\d%\d{4} | 19\d\d%(?:[03-9]\d|1[0-8])\d\d) %\d{3}
        # A landline of mainland China with its area code.
        | (?:010|02\d) (?:[2-8]\d{7} | _[2-9]\d{7} | _[2-9]\d{3}_\d{4})
        | 0[3-9]\d\d (?:[2-8]\d{6,7} | _[2-9]\d{6,7} | _[2-9]\d{2,3}_\d{4})
        # A leading 0 and an area code: of Britain, Taiwan, Japan and others.
        | 07[1-9]\d{8} | 0[5-9]0\d{8} | 09\d{8}
        # A North American number; at least one separator is no space.
        | (?:1_)?[2-9]\d\d_[2-9]\d\d[&]\d{4} | (?:1_)?[2-9]\d\d[&][2-9]\d\d_\d{4}
        | 1[&][2-9]\d\d_[2-9]\d\d_\d{4} | \([2-9]\d\d_[2-9]\d{6}",
        |_| true,
    ),
    // Chinese and American toll-free numbers.
    (r"[48]00 (?:\d{7} | _\d{3}_\d{4} | _\d{4}_\d{3} | \d_\d{3}_\d{3} | _\d{7} | \d{3}_\d{4} | \d{4}_\d{3})", |it| {
        !it.is_round()
    }),
    // An area code after 0 and groups of 9 to 11 digits together.
    (r"(?:0[1-9]\d{1,3}_ | \(0[1-9]_ | 0[1-9][~])\d{3,}(?:_\d{3,}){0,2}", |it| (9..=11).contains(&it.number().len())),
    // 00 and a country code in a separate group.
    (r"00[1-9]\d{0,2}(?:_\d{2,})+", |it| (11..=17).contains(&it.number().len())),
    // + and a country code; a number of 8 digits has separators.
    (
        r"\+(?: 8%?6%?(?:1%?[3-9](?:%?\d){8,9} | (?:[02-9]%?\d|1%?[0-2])(?:%?\d){7,10})
        | [17](?:%?\d){10} | (?:[2-69]%?\d|8%?[0-57-9])(?:%?\d){6,13})",
        |it| it.text().len() > 8,
    ),
    // Any other number after a keyword.
    (r"\d(?:_?\d){6,12}", |it| it.is_after(keywords::PHONE) && it.is_call_number()),
];
