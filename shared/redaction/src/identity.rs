//! Identity numbers of people, and bank account numbers, which also begin with letters.

use std::ops::Range;

use crate::forms::{self, matches};
use crate::line::Line;
use crate::numbers::Candidate;
use crate::{DataKind, checks, keywords};

/// Maximum length of a number that begins with letters, in bytes of the folded text.
const MAX_LENGTH: usize = 80;

/// The end of the identity number that groups of digits form.
pub(crate) fn number_end(candidate: &Candidate<'_>) -> Option<usize> {
    let Candidate { line, range, form, digits, .. } = candidate;
    if !(8..=18).contains(&digits.len()) {
        return None;
    }
    if candidate.is_complete
        && match digits.len() {
            18 => matches(&forms::RESIDENT, digits) && checks::is_resident(digits),
            // The format until 1999. It has no check digit.
            15 => matches(&forms::RESIDENT, form) && line.is_after(range.start, keywords::IDENTITY),
            13 => matches(&forms::KOREAN, form) && checks::is_korean(digits),
            11 => matches(&forms::BRAZILIAN, form) && checks::is_brazilian(digits),
            9 if candidate.group_count == 1 => line.is_after(range.start, keywords::PASSPORT),
            9 => matches(&forms::SOCIAL_SECURITY, form),
            _ => false,
        }
    {
        return Some(range.end);
    }
    let mut rest = line.folded.from(range.end, 4).char_indices().skip_while(|(_, c)| " -_".contains(*c));
    let (offset, letter) = rest.next()?;
    let number = format!("{digits}{}", letter.to_ascii_uppercase());
    let end = range.end + offset + 1;
    let is_number = matches(&forms::RESIDENT, &number) && checks::is_resident(&number)
        || candidate.group_count == 1 && checks::is_spanish(&number);
    (is_number && !line.folded.byte(end).is_ascii_alphanumeric()).then_some(end)
}

/// The numbers of the wanted kinds that begin with a letter.
pub(crate) fn find_lettered(line: &Line<'_>, kinds: &[DataKind]) -> Vec<(Range<usize>, DataKind)> {
    let mut found: Vec<(Range<usize>, DataKind)> = Vec::new();
    for at in 0..line.folded.text.len() {
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
    let length = checks::iban_length(&text.get(..2)?.to_ascii_uppercase())?;
    let chars = text.char_indices().take_while(|(_, c)| c.is_ascii_alphanumeric() || " -_".contains(*c));
    let chars = chars.filter(|(_, c)| c.is_ascii_alphanumeric()).take(length);
    let (ends, number): (Vec<usize>, String) = chars.map(|(offset, c)| (at + offset + 1, c)).unzip();
    let end = ends.get(length - 1).copied()?;
    (checks::passes_mod_97(&number) && !line.folded.byte(end).is_ascii_alphanumeric()).then_some(end)
}

/// The end of the identity number that begins with letters at `at`.
fn lettered_end(line: &Line<'_>, at: usize) -> Option<usize> {
    let captures = forms::captures(&forms::LETTERED, line.folded.from(at, MAX_LENGTH))?;
    let is_after = |keywords| line.is_after(at, keywords);
    if let Some(token) = captures.name("token") {
        let number = token.as_str().to_ascii_uppercase();
        let is_number = matches(&forms::TAIWANESE, &number) && checks::is_taiwanese(&number)
            || matches(&forms::SINGAPOREAN, &number) && checks::is_singaporean(&number)
            || number.starts_with(['X', 'Y', 'Z']) && checks::is_spanish(&number)
            || matches(&forms::HONG_KONG, &number) && checks::is_hong_kong(&number) && is_after(keywords::IDENTITY)
            || number.ends_with(|c: char| c.is_ascii_digit()) && is_after(keywords::PASSPORT);
        return is_number.then_some(at + token.end());
    }
    let number = captures.name("hk").or_else(|| captures.name("gb"))?;
    let text = number.as_str().to_ascii_uppercase().replace(['(', ')'], "");
    (captures.name("gb").is_some() || checks::is_hong_kong(&text)).then_some(at + number.end())
}
