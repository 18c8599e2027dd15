//! Telephone numbers: international ones, those of mainland China, and formats of other countries.

use crate::candidate::{Candidate, to_number};
use crate::groups::Gap;
use crate::keywords::{self, PHONE};

/// Group lengths of a Chinese mobile number.
const MOBILE: [&[usize]; 6] = [&[11], &[3, 4, 4], &[3, 8], &[7, 4], &[4, 3, 4], &[4, 4, 3]];

/// Group lengths of a ten-digit number that begins with 400 or 800.
const SERVICE: [&[usize]; 7] = [&[10], &[3, 3, 4], &[3, 4, 3], &[4, 3, 3], &[3, 7], &[6, 4], &[7, 3]];

/// Whether the groups form a telephone number.
pub(crate) fn is_phone(candidate: &Candidate<'_>) -> bool {
    if candidate.has_plus {
        return is_international(candidate);
    }
    is_mobile(candidate)
        || is_landline(candidate)
        || is_service(candidate)
        || is_american(candidate)
        || has_trunk_prefix(candidate)
        || has_exit_code(candidate)
        || is_named(candidate)
}

/// Whether `-` and digits after the number may be an extension.
pub(crate) fn has_extensions(candidate: &Candidate<'_>) -> bool {
    candidate.digits.first().is_some_and(|digit| [0, 1, 4, 8].contains(digit))
}

/// E.164 after `+`: a country code and at most 15 digits.
fn is_international(candidate: &Candidate<'_>) -> bool {
    let digits = candidate.digits;
    let length = digits.len();
    match digits {
        [8, 6, rest @ ..] if is_mobile_number(rest) => true,
        [8, 6, 1, three, ..] if *three >= 3 && length != 12 => false,
        [8, 6, rest @ ..] => (9..=12).contains(&rest.len()),
        [1 | 7, ..] => length == 11,
        [0, ..] | [] => false,
        _ => (if candidate.groups.len() == 1 { 9 } else { 8 }..=15).contains(&length),
    }
}

fn is_mobile_number(digits: &[u8]) -> bool {
    digits.len() == 11 && matches!(digits, [1, 3..=9, ..])
}

/// A Chinese mobile number, optionally after 86, 0086 or 0.
fn is_mobile(candidate: &Candidate<'_>) -> bool {
    let prefixes: [&[u8]; 4] = [&[], &[8, 6], &[0, 0, 8, 6], &[0]];
    prefixes.iter().any(|prefix| {
        let rest = candidate.digits.strip_prefix(*prefix);
        rest.is_some_and(is_mobile_number) && has_mobile_form(candidate, prefix.len())
    })
}

fn has_mobile_form(candidate: &Candidate<'_>, prefix: usize) -> bool {
    let mut lengths: Vec<usize> = candidate.lengths().collect();
    match lengths.first_mut() {
        Some(first) if *first == prefix && prefix > 1 => drop(lengths.remove(0)),
        Some(first) if *first > prefix => *first -= prefix,
        _ => return false,
    }
    MOBILE.contains(&lengths.as_slice()) && !(lengths == [4, 4, 3] && are_years(candidate, prefix))
}

fn are_years(candidate: &Candidate<'_>, prefix: usize) -> bool {
    let year =
        |from: usize| (1900..2100).contains(&to_number(candidate.digits.get(from..from + 4).unwrap_or_default()));
    prefix == 0 && year(0) && year(4)
}

/// An area code of mainland China and a number of seven or eight digits.
fn is_landline(candidate: &Candidate<'_>) -> bool {
    let (area, number) = match candidate.digits {
        [0, 1, 0, number @ ..] | [0, 2, _, number @ ..] => (3, number),
        [0, 3..=9, _, _, number @ ..] => (4, number),
        _ => return false,
    };
    let lengths: Vec<usize> = candidate.lengths().collect();
    let has_valid_form = match lengths.as_slice() {
        [_] => number.first().is_some_and(|first| (2..=8).contains(first)),
        [first, _] | [first, 3 | 4, 4] => *first == area,
        _ => false,
    };
    let length = number.len() == 8 || (area == 4 && number.len() == 7);
    has_valid_form && length && number.first().is_some_and(|first| *first >= 2)
}

/// A Chinese or American toll-free number.
fn is_service(candidate: &Candidate<'_>) -> bool {
    let has_service_prefix = candidate.starts_with(&[4, 0, 0]) || candidate.starts_with(&[8, 0, 0]);
    let ends_in_zeros = |digits: &[u8]| digits.ends_with(&[0, 0]);
    let is_round_amount = candidate.gaps().all(Gap::is_space)
        && (candidate.groups.iter().all(|group| ends_in_zeros(group.digits())) || candidate.digits.ends_with(&[0; 5]));
    has_service_prefix && !is_round_amount && SERVICE.iter().any(|form| candidate.has_form(form))
}

/// A formatted North American number: `(650) 253-0000`, `1-650-253-0000`, `650.253.0000`.
fn is_american(candidate: &Candidate<'_>) -> bool {
    let national = match candidate.digits {
        [1, national @ ..] if candidate.has_form(&[1, 3, 3, 4]) => national,
        national if candidate.has_form(&[3, 3, 4]) => national,
        national if candidate.is_parenthesised && candidate.has_form(&[3, 7]) => national,
        _ => return false,
    };
    let is_formatted = candidate.gaps().any(|gap| !gap.is_space());
    is_formatted && matches!(national, [2..=9, _, _, 2..=9, ..])
}

/// A number that begins with 0 and an area code: of Britain, Taiwan, Japan and others. It must have groups unless it is
/// a mobile number.
fn has_trunk_prefix(candidate: &Candidate<'_>) -> bool {
    let lengths: Vec<usize> = candidate.lengths().collect();
    let length = candidate.digits.len();
    let Some((&first, rest)) = lengths.split_first() else { return false };
    let mobile = match candidate.digits {
        [0, 7, 1..=9, ..] | [0, 5..=9, 0, ..] if length == 11 => true,
        [0, 9, ..] => length == 10,
        _ => false,
    };
    if rest.is_empty() {
        return mobile;
    }
    let is_joined = candidate.gaps().next().is_some_and(Gap::is_hyphen) || candidate.is_parenthesised;
    let area = (3..=5).contains(&first) || (first == 2 && is_joined);
    let prefix = matches!(candidate.digits, [0, 1..=9, ..]);
    prefix && area && rest.len() <= 3 && rest.iter().all(|group| *group >= 3) && (9..=11).contains(&length)
}

/// 00 and a country code in a separate group.
fn has_exit_code(candidate: &Candidate<'_>) -> bool {
    let code = candidate.groups.first().is_some_and(|group| (3..=5).contains(&group.digit_count));
    let rest = candidate.lengths().skip(1).all(|length| length >= 2);
    let length = (11..=17).contains(&candidate.digits.len());
    matches!(candidate.digits, [0, 0, 1..=9, ..]) && code && rest && length && candidate.groups.len() > 1
}

/// Digits after a keyword such as "phone" that are no date.
fn is_named(candidate: &Candidate<'_>) -> bool {
    let lengths: Vec<usize> = candidate.lengths().collect();
    let date = matches!(lengths.as_slice(), [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4]);
    (7..=13).contains(&candidate.digits.len())
        && lengths.len() <= 5
        && !date
        && keywords::is_before(candidate.text, candidate.start(), PHONE)
}
