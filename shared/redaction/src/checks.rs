//! Check digits.

/// The check letters of a Spanish number, by the number modulo 23.
const SPANISH: &str = "TRWAGMYFPDXBNJZSQVHLCKE";

/// The values of Taiwan's letters, from A.
const TAIWAN: [u32; 26] =
    [10, 11, 12, 13, 14, 15, 16, 17, 34, 18, 19, 20, 21, 22, 35, 23, 24, 25, 26, 27, 28, 29, 32, 30, 31, 33];

/// Country codes of bank account numbers and the lengths of their numbers (ISO 13616).
const IBAN_LENGTHS: &str = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27\
    GB22GE22GI23GL18GR27GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27\
    MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20";

/// The values of digits and letters; A is 10.
fn values(text: &str) -> impl DoubleEndedIterator<Item = u32> + '_ {
    text.chars().filter_map(|c| c.to_digit(36))
}

fn weigh(text: &str, weights: impl IntoIterator<Item = u32>) -> u32 {
    values(text).zip(weights).map(|(value, weight)| value * weight).sum()
}

/// The Luhn check of payment cards.
pub(crate) fn passes_luhn(digits: &str) -> bool {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let add = |(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit };
    values(digits).rev().enumerate().map(add).sum::<u32>().is_multiple_of(10)
}

/// ISO 7064 MOD 97-10 of a bank account number: the first four characters move to the end.
pub(crate) fn passes_mod_97(number: &str) -> bool {
    let (begin, rest) = number.split_at_checked(4).unwrap_or_default();
    let add = |sum: u32, value: u32| (if value > 9 { sum * 100 } else { sum * 10 } + value) % 97;
    values(begin).fold(values(rest).fold(0, add), add) == 1
}

/// The length of a bank account number of a country.
pub(crate) fn iban_length(country: &[u8]) -> Option<usize> {
    let mut rows = IBAN_LENGTHS.as_bytes().chunks(4);
    let at = rows.position(|row| matches!((row, country), ([a, b, ..], [c, d]) if a == c && b == d))?;
    IBAN_LENGTHS.get(4 * at + 2..4 * at + 4)?.parse().ok()
}

/// ISO 7064 MOD 11-2 of a resident identity card (GB 11643); its last character may be X.
pub(crate) fn is_resident(number: &str) -> bool {
    let (digits, check) = number.split_at_checked(17).unwrap_or_default();
    let check = if check.eq_ignore_ascii_case("x") { 10 } else { values(check).sum() };
    (values(digits).fold(0, |sum, digit| (sum + digit) * 2 % 11) + check) % 11 == 1
}

/// The check digit of a Korean number.
pub(crate) fn is_korean(digits: &str) -> bool {
    let sum = weigh(digits, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
    values(digits).nth(12) == Some((11 - sum % 11) % 10)
}

/// The two check digits of a Brazilian number.
pub(crate) fn is_brazilian(digits: &str) -> bool {
    let check = |length: u32| weigh(digits, (2..=length + 1).rev()) * 10 % 11 % 10;
    values(digits).skip(9).eq([check(9), check(10)])
}

/// The check letter of a Spanish number; a leading X, Y or Z is 0, 1 or 2.
pub(crate) fn is_spanish(number: &str) -> bool {
    let Some((digits, letter)) = number.len().checked_sub(1).map(|last| number.split_at(last)) else { return false };
    let digits = digits.replace('X', "0").replace('Y', "1").replace('Z', "2");
    let expected = digits.parse::<usize>().ok().and_then(|number| SPANISH.get(number % 23..=number % 23));
    number.len() == 9 && expected == Some(letter)
}

/// The check digit of a Taiwanese number, in capitals.
pub(crate) fn is_taiwanese(number: &str) -> bool {
    let code = |c: char| u32::from(c).checked_sub(65).and_then(|at| TAIWAN.get(usize::try_from(at).ok()?)).copied();
    let mut chars = number.chars();
    let (first, second) = (chars.next().and_then(code), chars.next());
    let second = second.and_then(|c| c.to_digit(10).or_else(|| code(c).map(|code| code % 10)));
    let (Some(first), Some(second)) = (first, second) else { return false };
    let sum = first / 10 + first % 10 * 9 + second * 8 + weigh(chars.as_str(), [7, 6, 5, 4, 3, 2, 1, 1]);
    sum.is_multiple_of(10)
}

/// The check letter of a Singaporean number, in capitals.
pub(crate) fn is_singaporean(number: &str) -> bool {
    let (Some(digits), Some(first), Some(last)) = (number.get(1..8), number.chars().next(), number.get(8..)) else {
        return false;
    };
    let letters = if "ST".contains(first) { "JZIHGFEDCBA" } else { "XWUTRQPNMLK" };
    let sum = weigh(digits, [2, 7, 6, 5, 4, 3, 2]) + if "TG".contains(first) { 4 } else { 0 };
    letters.chars().zip(0..).any(|(letter, at)| at == sum % 11 && last.chars().eq([letter]))
}

/// The check character of a Hong Kong number: one or two letters, six digits, 0 to 9 or A.
pub(crate) fn is_hong_kong(number: &str) -> bool {
    let begin = if number.len() == 8 { 36 * 9 } else { 0 };
    (begin + weigh(number, (1..10).rev().skip(9 - number.len().min(9)))).is_multiple_of(11)
}
