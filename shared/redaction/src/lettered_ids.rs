//! Identity numbers that begin with a letter, and bank accounts: Hong Kong, Taiwan, Singapore, Britain, Spain,
//! passports.

use std::ops::Range;

use crate::characters::{continues, fold, is_invisible, next, next_after};
use crate::keywords::{self, IDENTITY, PASSPORT};
use crate::{DataKind, iban, identity};

/// The values of Taiwan's letters, from A.
const TAIWAN: [u32; 26] =
    [10, 11, 12, 13, 14, 15, 16, 17, 34, 18, 19, 20, 21, 22, 35, 23, 24, 25, 26, 27, 28, 29, 32, 30, 31, 33];

/// Consecutive letters and digits, in upper case.
struct Token {
    bytes: Vec<u8>,
    /// The byte range of each character.
    ranges: Vec<Range<usize>>,
}

/// Maximum number of characters in a token.
const MAX_TOKEN_CHARS: usize = 16;

/// Finds the numbers of the wanted kinds.
pub(crate) fn find(text: &str, is_wanted: &dyn Fn(DataKind) -> bool) -> Vec<(Range<usize>, DataKind)> {
    let mut found = Vec::new();
    let (mut is_inside, mut matched_end) = (false, 0);
    for (at, c) in text.char_indices() {
        if is_invisible(c) {
            continue;
        }
        let folded = fold(c);
        if folded.is_ascii_alphabetic()
            && !is_inside
            && at >= matched_end
            && leads_to_digits(text, at)
            && let Some((end, kind)) = match_at(text, at, is_wanted)
        {
            found.push((at..end, kind));
            matched_end = end;
        }
        is_inside = folded.is_ascii_alphanumeric();
    }
    found
}

/// Whether a digit follows one or two letters, or two letters and a space: all numbers begin like this.
fn leads_to_digits(text: &str, at: usize) -> bool {
    let mut at = at;
    for index in 0..4 {
        let Some((c, end)) = next(text, at) else { return false };
        match c {
            c if c.is_ascii_digit() => return true,
            c if c.is_ascii_alphabetic() && index < 2 => at = end,
            ' ' if index == 2 => return next_after(text, end, " ").is_some_and(|(c, _)| c.is_ascii_digit()),
            _ => return false,
        }
    }
    false
}

fn match_at(text: &str, at: usize, is_wanted: &dyn Fn(DataKind) -> bool) -> Option<(usize, DataKind)> {
    if is_wanted(DataKind::Card)
        && let Some(end) = iban::iban_end(text, at)
    {
        return Some((end, DataKind::Card));
    }
    if !is_wanted(DataKind::Id) {
        return None;
    }
    let token = Token::read(text, at);
    let end = hong_kong_end(text, at, &token).or_else(|| british_end(text, at)).or_else(|| {
        let is_id = token.is_complete(text) && (token.is_taiwanese() || token.is_singaporean() || token.is_spanish());
        let is_passport = || token.is_complete(text) && token.is_passport() && keywords::is_before(text, at, PASSPORT);
        (is_id || is_passport()).then(|| token.end())
    });
    Some((end?, DataKind::Id))
}

impl Token {
    fn read(text: &str, at: usize) -> Self {
        let mut token = Self { bytes: Vec::new(), ranges: Vec::new() };
        let mut at = at;
        while token.bytes.len() < MAX_TOKEN_CHARS
            && let Some((c, end)) = next(text, at)
            && c.is_ascii_alphanumeric()
        {
            token.bytes.extend(u8::try_from(c.to_ascii_uppercase()));
            token.ranges.push(at..end);
            at = end;
        }
        token
    }

    fn end(&self) -> usize {
        self.ranges.last().map_or(0, |range| range.end)
    }

    fn is_complete(&self, text: &str) -> bool {
        !continues(text, self.end())
    }

    /// The values of the digits from `from` to `to`; `None` if any is not a digit.
    fn digits(&self, from: usize, to: usize) -> Option<Vec<u32>> {
        let bytes = self.bytes.get(from..to)?;
        bytes.iter().map(|byte| byte.is_ascii_digit().then(|| u32::from(byte - b'0'))).collect()
    }

    /// A letter, a character for the sex and eight digits, the last one a check digit.
    fn is_taiwanese(&self) -> bool {
        let code = |at: usize| TAIWAN.get(usize::from(self.bytes.get(at)?.checked_sub(b'A')?)).copied();
        let second = match self.bytes.get(1) {
            Some(sex @ (b'1' | b'2' | b'8' | b'9')) => Some(u32::from(sex - b'0')),
            Some(b'A'..=b'D') => code(1).map(|code| code % 10),
            _ => None,
        };
        let (Some(first), Some(second), Some(rest)) = (code(0), second, self.digits(2, 10)) else { return false };
        let weighted: u32 = rest.iter().zip([7, 6, 5, 4, 3, 2, 1, 1]).map(|(digit, weight)| digit * weight).sum();
        self.bytes.len() == 10 && (first / 10 + first % 10 * 9 + second * 8 + weighted).is_multiple_of(10)
    }

    /// S, T, F or G, seven digits and a check letter.
    fn is_singaporean(&self) -> bool {
        let (&[first, .., last], Some(digits)) = (self.bytes.as_slice(), self.digits(1, 8)) else { return false };
        let sum: u32 = digits.iter().zip([2, 7, 6, 5, 4, 3, 2]).map(|(digit, weight)| digit * weight).sum();
        let (letters, offset) = match first {
            b'S' => (b"JZIHGFEDCBA", 0),
            b'T' => (b"JZIHGFEDCBA", 4),
            b'F' => (b"XWUTRQPNMLK", 0),
            b'G' => (b"XWUTRQPNMLK", 4),
            _ => return false,
        };
        let at = usize::try_from((sum + offset) % 11).unwrap_or_default();
        self.bytes.len() == 9 && letters.get(at) == Some(&last)
    }

    /// A foreigner's number in Spain: X, Y or Z, seven digits and a check letter.
    fn is_spanish(&self) -> bool {
        let (&[first, .., last], Some(digits)) = (self.bytes.as_slice(), self.digits(1, 8)) else { return false };
        let Some(prefix) = b"XYZ".iter().position(|letter| *letter == first) else { return false };
        let number = digits.iter().fold(prefix as u64, |sum, digit| sum * 10 + u64::from(*digit));
        self.bytes.len() == 9 && identity::is_dni(number, char::from(last))
    }

    /// One or two letters and six to nine digits.
    fn is_passport(&self) -> bool {
        let letters = self.bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let digits = self.bytes.len() - letters;
        letters <= 2 && (6..=9).contains(&digits) && self.digits(letters, self.bytes.len()).is_some()
    }
}

/// `A123456(3)`; without parentheses only after a keyword.
fn hong_kong_end(text: &str, at: usize, token: &Token) -> Option<usize> {
    let letters = token.bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let digits = token.digits(letters, letters + 6).filter(|_| letters <= 2)?;
    let last = token.ranges.get(letters + 5)?.end;
    let has_check_in_token = token.bytes.len() == letters + 7;
    let (check, end) = match next(text, last)? {
        ('(', inner) => {
            let (check, inner) = next(text, inner)?;
            next(text, inner).filter(|(c, _)| *c == ')').map(|(_, end)| (check, end))?
        }
        (check, end) if has_check_in_token && keywords::is_before(text, at, IDENTITY) => (check, end),
        _ => return None,
    };
    let check = check.to_digit(11)?;
    let letter = |at: usize| token.bytes.get(at).map_or(36, |byte| u32::from(byte - b'A') + 10);
    let (first, second) = if letters == 2 { (letter(0), letter(1)) } else { (36, letter(0)) };
    let weighted: u32 = digits.iter().zip((2..=7).rev()).map(|(digit, weight)| digit * weight).sum();
    ((first * 9 + second * 8 + weighted + check).is_multiple_of(11) && !continues(text, end)).then_some(end)
}

/// A British national insurance number: two letters, six digits, a letter; optionally with spaces.
fn british_end(text: &str, at: usize) -> Option<usize> {
    let mut end = at;
    for index in 0..9 {
        let (mut c, mut after) = next(text, end)?;
        if c == ' ' && [2, 4, 6, 8].contains(&index) {
            (c, after) = next_after(text, after, " ")?;
        }
        let is_valid = match index {
            0 => c.is_ascii_alphabetic() && !"DFIQUVdfiquv".contains(c),
            1 => c.is_ascii_alphabetic() && !"DFIOQUVdfioquv".contains(c),
            8 => "ABCDabcd".contains(c),
            _ => c.is_ascii_digit(),
        };
        if !is_valid {
            return None;
        }
        end = after;
    }
    (!continues(text, end)).then_some(end)
}
