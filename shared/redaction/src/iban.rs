//! International bank account numbers (ISO 13616), with their check digits.

use crate::characters::{continues, next, next_after};

/// Country codes and the lengths of their numbers.
const LENGTHS: &str = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27\
    GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27\
    MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20";

/// The end of the number that begins at `at`; spaces and hyphens may separate its groups.
pub(crate) fn iban_end(text: &str, at: usize) -> Option<usize> {
    let mut chars = Vec::new();
    let (mut from, mut length, mut end) = (at, 4, at);
    while chars.len() < length {
        let (mut c, mut after) = next(text, from)?;
        if matches!(c, ' ' | '-') && chars.len() >= 4 {
            (c, after) = next_after(text, after, " -")?;
        }
        chars.push(c.is_ascii_alphanumeric().then(|| c.to_ascii_uppercase())?);
        if chars.len() == 4 {
            length = iban_length(&chars)?;
        }
        (from, end) = (after, after);
    }
    (passes_mod_97(&chars) && !continues(text, end)).then_some(end)
}

fn iban_length(chars: &[char]) -> Option<usize> {
    let code: String = chars.iter().take(2).collect();
    let at = (0..LENGTHS.len()).step_by(4).find(|at| LENGTHS.get(*at..at + 2) == Some(code.as_str()))?;
    let has_check_digits = chars.iter().skip(2).all(char::is_ascii_digit);
    LENGTHS.get(at + 2..at + 4)?.parse().ok().filter(|_| has_check_digits)
}

/// Checks ISO 7064 MOD 97-10: the first four characters move to the end, letters count as 10 to 35.
fn passes_mod_97(chars: &[char]) -> bool {
    let (begin, rest) = chars.split_at(4);
    let values = rest.iter().chain(begin).filter_map(|c| c.to_digit(36));
    values.fold(0, |sum, value| (if value > 9 { sum * 100 } else { sum * 10 } + value) % 97) == 1
}
