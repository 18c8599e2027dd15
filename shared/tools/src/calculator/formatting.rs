//! Formats results.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Pow, Signed, ToPrimitive, Zero};

use super::number::Number;

/// Longest number that is formatted in full, in characters.
const MAX_LENGTH: usize = 400;

/// Digits of a longer number.
const LEADING_DIGITS: usize = 15;

/// Digits after the decimal point of a non-terminating or approximate number.
const MAX_DECIMALS: usize = 10;

/// Range in which an approximate number is formatted without a power of ten.
const DECIMAL: std::ops::Range<f64> = 1e-4..1e15;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) exact: bool,
}

pub(super) fn format_answer(value: &Number) -> Answer {
    match value {
        Number::Exact(number) => format_exact(number),
        Number::Approximate(value) => Answer { text: format_approximate(*value), exact: false },
    }
}

fn format_exact(number: &BigRational) -> Answer {
    // A number with more decimals is too long in any case.
    let exact = (ten_to(MAX_LENGTH) % number.denom()).is_zero();
    let decimals = if exact { MAX_LENGTH } else { MAX_DECIMALS };
    let text = trim_zeros(&format_fixed(number, decimals));
    let is_tiny = number.numer().magnitude() * 10_000_u32 < *number.denom().magnitude();
    if text.len() <= MAX_LENGTH && (exact || !is_tiny) {
        return Answer { text, exact };
    }
    Answer { text: format_scientific(number), exact: false }
}

/// Rounds a number to `decimals` digits after the decimal point.
fn format_fixed(number: &BigRational, decimals: usize) -> String {
    let rounded = (number * ten_to(decimals)).round().to_integer();
    let digits = format!("{:0>width$}", rounded.magnitude().to_string(), width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    format!("{}{whole}.{fraction}", if rounded.is_negative() { "-" } else { "" })
}

/// Formats the first digits of a number and its power of ten.
fn format_scientific(number: &BigRational) -> String {
    // So many decimals that the digits suffice: a number of n bits has at least 0.3 (n - 1) digits, and at most 0.302 n + 1.
    let missing =
        number.denom().bits().to_f64().unwrap_or(0.0) * 0.302 - number.numer().bits().to_f64().unwrap_or(0.0) * 0.3;
    let decimals = LEADING_DIGITS + missing.ceil().to_usize().unwrap_or(0) + 2;
    let digits = (number.abs() * ten_to(decimals)).to_integer().to_string();
    let exponent = digits.len().to_i64().unwrap_or(0) - 1 - decimals.to_i64().unwrap_or(0);
    let (first, rest) = digits.get(..LEADING_DIGITS).unwrap_or(&digits).split_at(1);
    format!("{}{first}.{rest}e{exponent}", if number.is_negative() { "-" } else { "" })
}

fn ten_to(exponent: usize) -> BigInt {
    BigInt::from(10).pow(exponent)
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
