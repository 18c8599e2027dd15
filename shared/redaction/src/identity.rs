//! Identity numbers of people, and bank account numbers, which also begin with letters.

use std::ops::Range;

use crate::line::Line;
use crate::{DataKind, checks, forms, keywords};

/// Maximum length of a number that begins with letters, in bytes of the folded text.
const MAX_LENGTH: usize = 80;

/// The numbers of the wanted kinds that begin with a letter.
pub(crate) fn find_lettered(line: &Line<'_>, kinds: &[DataKind]) -> Vec<(Range<usize>, DataKind)> {
    let mut found: Vec<(Range<usize>, DataKind)> = Vec::new();
    for at in line.folded.digit_runs().flat_map(|digits| digits.start.saturating_sub(3)..digits.start) {
        let is_free = found.last().is_none_or(|(last, _)| at >= last.end);
        if is_free && may_begin(line, at) {
            let card =
                || iban_end(line, at).filter(|_| kinds.contains(&DataKind::Card)).map(|end| (end, DataKind::Card));
            let id = || lettered_end(line, at).filter(|_| kinds.contains(&DataKind::Id)).map(|end| (end, DataKind::Id));
            found.extend(card().or_else(id).map(|(end, kind)| (at..end, kind)));
        }
    }
    found
}

/// Whether a token begins with one or two letters and then a digit.
fn may_begin(line: &Line<'_>, at: usize) -> bool {
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|offset| line.folded.byte(at + offset));
    first.is_ascii_alphabetic()
        && !line.folded.byte_before(at).is_ascii_alphanumeric()
        && (second.is_ascii_digit()
            || second.is_ascii_alphabetic() && (third.is_ascii_digit() || third == b' ' && fourth.is_ascii_digit()))
}

/// The end of the bank account number that begins at `at`; spaces and hyphens may separate its groups.
fn iban_end(line: &Line<'_>, at: usize) -> Option<usize> {
    let text = line.folded.from(at, MAX_LENGTH);
    let country = text.get(..2).filter(|country| country.iter().all(u8::is_ascii_alphabetic))?;
    let length = checks::iban_length(&country.to_ascii_uppercase())?;
    let bytes = text.iter().zip(at + 1..).take_while(|(byte, _)| byte.is_ascii_alphanumeric() || b" -_".contains(byte));
    let (mut number, mut end) = (String::with_capacity(length), at);
    for (byte, next) in bytes.filter(|(byte, _)| byte.is_ascii_alphanumeric()).take(length) {
        number.push(char::from(*byte));
        end = next;
    }
    let is_complete = number.len() == length && !line.folded.byte(end).is_ascii_alphanumeric();
    (is_complete && checks::passes_mod_97(&number)).then_some(end)
}

/// The end of the identity number that begins with letters at `at`.
fn lettered_end(line: &Line<'_>, at: usize) -> Option<usize> {
    let ends_token = |rest: &[u8]| !rest.first().is_some_and(u8::is_ascii_alphanumeric);
    let (length, matches) = forms::LETTERED.longest(line.folded.from(at, MAX_LENGTH), ends_token)?;
    let has = |form| matches & form != 0;
    let is_after = |keywords: &[&str]| line.is_after(at, keywords);
    let number = line.folded.text(at..at + length).to_ascii_uppercase();
    let is_number = has(forms::BRITISH)
        || has(forms::HONG_KONG) && checks::is_hong_kong(&number.replace(['(', ')'], ""))
        || has(forms::TAIWANESE) && checks::is_taiwanese(&number)
        || has(forms::SINGAPOREAN) && checks::is_singaporean(&number)
        || has(forms::TOKEN)
            && (number.starts_with(['X', 'Y', 'Z']) && checks::is_spanish(&number)
                || has(forms::BARE_HONG_KONG) && checks::is_hong_kong(&number) && is_after(&keywords::IDENTITY)
                || number.ends_with(|c: char| c.is_ascii_digit()) && is_after(&keywords::PASSPORT));
    is_number.then_some(at + length)
}
