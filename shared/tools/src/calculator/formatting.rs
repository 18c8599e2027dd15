//! Formats results.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Pow, ToPrimitive, Zero};

use super::number::Number;
use super::rational::Rational;

/// Longest number that is formatted in full, in characters.
const MAX_LENGTH: usize = 400;

/// Digits of a longer number.
const LEADING_DIGITS: usize = 15;

/// Digits after the decimal point of a non-terminating or approximate number.
const MAX_DECIMALS: usize = 10;

/// Range in which an approximate number is formatted without a power of ten.
const DECIMAL: std::ops::Range<f64> = 1e-4..1e15;

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) exact: bool,
}

/// Formats a result.
pub(super) fn format_answer(value: &Number) -> Answer {
    match value {
        Number::Exact(number) => format_exact(number),
        Number::Approximate(value) => Answer { text: format_approximate(*value), exact: false },
    }
}

fn format_exact(number: &Rational) -> Answer {
    let text = |decimals| format_fixed(number, decimals).filter(|text| text.len() <= MAX_LENGTH);
    if let Some(text) = decimal_count(number.denominator()).and_then(text) {
        return Answer { text, exact: true };
    }
    let has_no_end = decimal_count(number.denominator()).is_none();
    let is_tiny = number.numerator().magnitude() * 10_000_u32 < *number.denominator().magnitude();
    let rounded = if has_no_end && !is_tiny { text(MAX_DECIMALS).map(|text| trim_zeros(&text)) } else { None };
    Answer { text: rounded.unwrap_or_else(|| format_scientific(number)), exact: false }
}

/// Returns the number of digits after the decimal point of a fraction with this denominator; `None` if it does not
/// terminate or has more digits than the maximum.
fn decimal_count(denominator: &BigInt) -> Option<usize> {
    let mut rest = denominator.magnitude().clone();
    let twos = rest.trailing_zeros().unwrap_or(0);
    rest >>= twos;
    let (mut fives, five) = (0, BigUint::from(5_u32));
    while fives <= MAX_LENGTH && !rest.is_one() {
        let (quotient, remainder) = rest.div_rem(&five);
        if !remainder.is_zero() {
            return None;
        }
        (rest, fives) = (quotient, fives + 1);
    }
    // The text of a longer number is rejected in any case.
    Some(fives.max(usize::try_from(twos).unwrap_or(usize::MAX)).min(MAX_LENGTH + 1))
        .filter(|_| rest.is_one() || fives > MAX_LENGTH)
}

/// Rounds a number to `decimals` digits after the decimal point; `None` if this exceeds the maximum length.
fn format_fixed(number: &Rational, decimals: usize) -> Option<String> {
    if decimals > MAX_LENGTH {
        return None;
    }
    let (top, bottom) = (number.numerator().magnitude(), number.denominator().magnitude());
    let scaled = top * BigUint::from(10_u32).pow(u32::try_from(decimals).ok()?);
    let rounded = (scaled * 2_u32 + bottom) / (bottom * 2_u32);
    let digits = format!("{:0>width$}", rounded.to_string(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    let sign = if number.is_negative() && !rounded.is_zero() { "-" } else { "" };
    Some(if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// Formats the first digits of a number and its power of ten.
fn format_scientific(number: &Rational) -> String {
    let (top, bottom) = (number.numerator().magnitude(), number.denominator().magnitude());
    let bits = top.bits().to_f64().unwrap_or(0.0) - bottom.bits().to_f64().unwrap_or(0.0);
    let mut exponent = (bits * std::f64::consts::LOG10_2).floor().to_i64().unwrap_or(0) - 1;
    let mut digits = leading_digits(top, bottom, exponent);
    while digits.len() > LEADING_DIGITS {
        exponent += 1;
        digits = leading_digits(top, bottom, exponent);
    }
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let sign = if number.is_negative() { "-" } else { "" };
    format!("{sign}{first}.{rest}e{exponent}")
}

/// Returns the leading digits of a number from this power of ten on; one digit more for each power below the right one.
fn leading_digits(top: &BigUint, bottom: &BigUint, exponent: i64) -> String {
    let shift = i64::try_from(LEADING_DIGITS).unwrap_or(0) - 1 - exponent;
    let power = BigUint::from(10_u32).pow(shift.unsigned_abs());
    let digits = if shift < 0 { top / (bottom * power) } else { top * power / bottom };
    digits.to_string()
}

/// Formats the digits of a float that are correct after a few operations.
fn format_approximate(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !DECIMAL.contains(&size) {
        let decimals = if size < DECIMAL.start { MAX_DECIMALS } else { LEADING_DIGITS - 1 };
        return format!("{value:.decimals$e}");
    }
    let whole_digits = format!("{size:.0}").len();
    let decimals = LEADING_DIGITS.saturating_sub(whole_digits).min(MAX_DECIMALS);
    trim_zeros(&format!("{value:.decimals$}"))
}

/// Removes trailing zeros after the decimal point, and the sign of zero.
fn trim_zeros(text: &str) -> String {
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}
