//! Numeric identity numbers: Chinese resident identity cards, United States social security numbers, and those of
//! Korea, Brazil and Spain with check digits.

use crate::candidate::{Candidate, to_number};
use crate::characters::{continues, next_after};
use crate::groups::Gap;
use crate::keywords::{self, IDENTITY, PASSPORT};

/// The first two digits of region codes: mainland China's provinces, Taiwan, Hong Kong and Macao.
const PROVINCES: [u64; 36] = [
    11, 12, 13, 14, 15, 21, 22, 23, 31, 32, 33, 34, 35, 36, 37, 41, 42, 43, 44, 45, 46, 50, 51, 52, 53, 54, 61, 62, 63,
    64, 65, 71, 81, 82, 83, 91,
];

/// The check letters of a Spanish DNI, by the number modulo 23.
const DNI_LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";

/// The end of the identity number that these groups form; `is_complete` if nothing that belongs to it follows.
pub(crate) fn identity_end(candidate: &Candidate<'_>, is_complete: bool) -> Option<usize> {
    if is_complete {
        let is_identity = is_resident(candidate)
            || is_old_resident(candidate)
            || is_social_security(candidate)
            || is_korean(candidate)
            || is_brazilian(candidate)
            || is_passport(candidate);
        return is_identity.then(|| candidate.end()).or_else(|| end_with_letter(candidate));
    }
    end_with_letter(candidate)
}

fn is_resident(candidate: &Candidate<'_>) -> bool {
    candidate.digits.split_last().is_some_and(|(check, digits)| has_resident_check(digits, u64::from(*check)))
}

/// The end of a number whose check digit is a letter.
fn end_with_letter(candidate: &Candidate<'_>) -> Option<usize> {
    let (letter, end) = next_after(candidate.text, candidate.end(), " -")?;
    let letter = letter.to_ascii_uppercase();
    let is_resident_card = letter == 'X' && has_resident_check(candidate.digits, 10);
    let is_dni_number = candidate.has_form(&[8]) && is_dni(to_number(candidate.digits), letter);
    ((is_resident_card || is_dni_number) && !continues(candidate.text, end)).then_some(end)
}

/// Checks ISO 7064 MOD 11-2 over 17 digits, with a valid region and date of birth.
fn has_resident_check(digits: &[u8], check: u64) -> bool {
    let sum = digits.iter().fold(0, |sum, digit| (sum + u64::from(*digit)) * 2 % 11);
    digits.len() == 17 && (sum + check) % 11 == 1 && is_region(digits) && is_date(digits.get(6..14).unwrap_or_default())
}

/// Fifteen digits, the format until 1999. It has no check digit, so a keyword must precede it.
fn is_old_resident(candidate: &Candidate<'_>) -> bool {
    let date = || [&[1, 9][..], candidate.digits.get(6..12).unwrap_or_default()].concat();
    candidate.has_form(&[15])
        && is_region(candidate.digits)
        && is_date(&date())
        && keywords::is_before(candidate.text, candidate.start(), IDENTITY)
}

fn is_region(digits: &[u8]) -> bool {
    PROVINCES.contains(&to_number(digits.get(..2).unwrap_or_default()))
}

/// Whether eight digits are a date of the years 1900 to 2099.
fn is_date(digits: &[u8]) -> bool {
    let part = |from: usize, to: usize| to_number(digits.get(from..to).unwrap_or_default());
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let is_leap_year = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u64::from(is_leap_year),
        _ => 0,
    };
    digits.len() == 8 && (1900..2100).contains(&year) && (1..=days).contains(&day)
}

/// `AAA-GG-SSSS` with assigned parts; also taxpayer numbers, which begin with 9.
fn is_social_security(candidate: &Candidate<'_>) -> bool {
    let part = |from: usize, to: usize| to_number(candidate.digits.get(from..to).unwrap_or_default());
    let has_uniform_gaps = candidate.gaps().all(Gap::is_hyphen) || candidate.gaps().all(Gap::is_space);
    let (area, group, serial) = (part(0, 3), part(3, 5), part(5, 9));
    let is_taxpayer = area >= 900 && (50..=99).contains(&group);
    let is_assigned = (1..900).contains(&area) && area != 666 && group > 0;
    candidate.has_form(&[3, 2, 4]) && has_uniform_gaps && serial > 0 && (is_assigned || is_taxpayer)
}

/// `YYMMDD-GNNNNNC`.
fn is_korean(candidate: &Candidate<'_>) -> bool {
    const WEIGHTS: [u32; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5];
    let Some((check, digits)) = candidate.digits.split_last() else { return false };
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| u32::from(*digit) * weight).sum();
    let date = [&[1, 9][..], digits.get(..6).unwrap_or_default()].concat();
    candidate.has_form(&[6, 7])
        && candidate.gaps().all(Gap::is_hyphen)
        && matches!(digits.get(6), Some(1..=8))
        && is_date(&date)
        && (11 - sum % 11) % 10 == u32::from(*check)
}

/// `000.000.000-00` with two check digits.
fn is_brazilian(candidate: &Candidate<'_>) -> bool {
    let check = |length: usize| {
        let digits =
            candidate.digits.iter().take(length).zip((2..).take(length).collect::<Vec<u32>>().into_iter().rev());
        let sum: u32 = digits.map(|(digit, weight)| u32::from(*digit) * weight).sum();
        let check = sum * 10 % 11 % 10;
        candidate.digits.get(length).is_some_and(|digit| u32::from(*digit) == check)
    };
    let dots = candidate.gaps().take(2).all(Gap::is_dot);
    let hyphen = candidate.gaps().nth(2).is_some_and(Gap::is_hyphen);
    candidate.has_form(&[3, 3, 3, 2]) && dots && hyphen && check(9) && check(10)
}

/// Nine digits after a keyword for a passport.
fn is_passport(candidate: &Candidate<'_>) -> bool {
    candidate.has_form(&[9]) && keywords::is_before(candidate.text, candidate.start(), PASSPORT)
}

/// Whether `letter` is the check letter of a Spanish number.
pub(crate) fn is_dni(number: u64, letter: char) -> bool {
    let expected = usize::try_from(number % 23).ok().and_then(|at| DNI_LETTERS.get(at));
    expected.is_some_and(|expected| char::from(*expected) == letter)
}
