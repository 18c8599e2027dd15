//! Check digits, and other parts that not every number has.

use std::ops::Range;

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

/// The length by country and ISO 7064 MOD 97-10 of a bank account number: the first four characters move to the end.
pub(crate) fn is_iban(text: &str) -> bool {
    let add = |sum: u32, value: u32| (if value > 9 { sum * 100 } else { sum * 10 } + value) % 97;
    let country = text.as_bytes().get(..2).unwrap_or_default();
    let row =
        IBAN_LENGTHS.as_bytes().chunks(4).find(|row| row.iter().zip(country).all(|(a, b)| a.eq_ignore_ascii_case(b)));
    let length = row.and_then(|row| std::str::from_utf8(row.get(2..)?).ok()?.parse().ok());
    length == Some(values(text).count()) && values(text).skip(4).chain(values(text).take(4)).fold(0, add) == 1
}

/// An issuer's first digits and length, and the Luhn check.
pub(crate) fn is_payment_card(digits: &str) -> bool {
    let is_issued = matches!(
        (part(digits, 0..4), digits.len()),
        (4000..=4999, 13 | 16 | 19) // Visa
            | (5100..=5599 | 2221..=2720 | 9792, 16) // Mastercard, Troy
            | (3400..=3499 | 3700..=3799, 15) // American Express
            | (3000..=3059 | 3095 | 3600..=3699 | 3800..=3999, 14..=16) // Diners Club
            // Discover, RuPay, JCB, UnionPay, Mir, Maestro
            | (
                6000..=6099 | 6440..=6599 | 3528..=3589 | 6200..=6299 | 8100..=8299 | 9558 | 9559 | 2200..=2204
                    | 5000..=5099 | 5600..=5899 | 6300..=6399 | 6700..=6799 | 6900..=6999,
                16..=19
            )
            | (5018 | 6759..=6763, 13..=15)
    );
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let add = |(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit };
    is_issued && values(digits).rev().enumerate().map(add).sum::<u32>().is_multiple_of(10)
}

fn part(digits: &str, range: Range<usize>) -> u32 {
    digits.get(range).and_then(|part| part.parse().ok()).unwrap_or_default()
}

/// The region and the date of birth at the beginning of a resident identity card, whose year has two digits until 1999.
pub(crate) fn has_region_and_birth(number: &str) -> bool {
    let month = if number.len() == 15 { 8 } else { 10 };
    matches!(part(number, 0..2), 11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83 | 91)
        && (number.len() == 15 || (1900..2100).contains(&part(number, 6..10)))
        && (1..=12).contains(&part(number, month..month + 2))
        && (1..=31).contains(&part(number, month + 2..month + 4))
}

/// ISO 7064 MOD 11-2 of a resident identity card (GB 11643); its last character may be X.
pub(crate) fn is_resident(number: &str) -> bool {
    let (digits, check) = number.split_at_checked(17).unwrap_or_default();
    let check = if check.eq_ignore_ascii_case("x") { 10 } else { values(check).sum() };
    has_region_and_birth(number) && (values(digits).fold(0, |sum, digit| (sum + digit) * 2 % 11) + check) % 11 == 1
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
