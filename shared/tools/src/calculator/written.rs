//! Formats results: every digit in the text is correct.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Pow, ToPrimitive, Zero};

use super::evaluate::Answer;
use super::evaluate::Fault;
use super::interval::Interval;
use super::number::Number;
use super::quantity::{Factor, Quantity};
use super::rational::Rational;

/// Longest number that is formatted in full, in characters.
const MAX_LENGTH: usize = 400;

/// Digits of a longer number.
const LEADING_DIGITS: usize = 15;

/// Digits after the decimal point of a non-terminating or approximate number.
const PLACES: usize = 10;

/// Range in which an approximate number is formatted without a power of ten.
const DECIMAL: std::ops::Range<f64> = 1e-4..1e15;

/// Formats a result.
pub(super) fn answer(value: &Quantity) -> Result<Answer, Fault> {
    let Answer { text, exact } = match &value.number {
        Number::Exact(number) => exact(number),
        number => Answer { text: approximate(number.interval()?)?, exact: false },
    };
    let units = units(&value.units);
    Ok(Answer { text: if units.is_empty() { text } else { format!("{text} {units}") }, exact })
}

fn exact(number: &Rational) -> Answer {
    let text = |places| fixed(number, places).filter(|text| text.len() <= MAX_LENGTH);
    if let Some(text) = places(number.denominator()).and_then(text) {
        return Answer { text, exact: true };
    }
    let has_no_end = places(number.denominator()).is_none();
    let is_tiny = number.numerator().magnitude() * 10_000_u32 < *number.denominator().magnitude();
    let rounded = if has_no_end && !is_tiny { text(PLACES).map(|text| trimmed(&text)) } else { None };
    Answer { text: rounded.unwrap_or_else(|| scientific(number)), exact: false }
}

/// Returns the number of digits after the decimal point of a fraction with this denominator; `None` if it does not
/// terminate or has more digits than the maximum.
fn places(denominator: &BigInt) -> Option<usize> {
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
fn fixed(number: &Rational, places: usize) -> Option<String> {
    if places > MAX_LENGTH {
        return None;
    }
    let (top, bottom) = (number.numerator().magnitude(), number.denominator().magnitude());
    let scaled = top * BigUint::from(10_u32).pow(u32::try_from(places).ok()?);
    let rounded = (scaled * 2_u32 + bottom) / (bottom * 2_u32);
    let digits = format!("{:0>width$}", rounded.to_string(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if number.is_negative() && !rounded.is_zero() { "-" } else { "" };
    Some(if places == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

/// Formats the first digits of a number and its power of ten.
fn scientific(number: &Rational) -> String {
    let (top, bottom) = (number.numerator().magnitude(), number.denominator().magnitude());
    let bits = top.bits().to_f64().unwrap_or(0.0) - bottom.bits().to_f64().unwrap_or(0.0);
    let mut exponent = (bits * std::f64::consts::LOG10_2).floor().to_i64().unwrap_or(0) - 1;
    let mut digits = leading(top, bottom, exponent);
    while digits.len() > LEADING_DIGITS {
        exponent += 1;
        digits = leading(top, bottom, exponent);
    }
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let sign = if number.is_negative() { "-" } else { "" };
    format!("{sign}{first}.{rest}e{exponent}")
}

/// Returns the leading digits of a number from this power of ten on; one digit more for each power below the right one.
fn leading(top: &BigUint, bottom: &BigUint, exponent: i64) -> String {
    let shift = i64::try_from(LEADING_DIGITS).unwrap_or(0) - 1 - exponent;
    let power = BigUint::from(10_u32).pow(shift.unsigned_abs());
    let digits = if shift < 0 { top / (bottom * power) } else { top * power / bottom };
    digits.to_string()
}

/// Formats a number with the digits on which both bounds agree.
fn approximate(bounds: Interval) -> Result<String, Fault> {
    let size = bounds.low().abs().max(bounds.high().abs());
    let agreed = |most: usize, write: fn(f64, usize) -> String| {
        (1..=most)
            .rev()
            .map(|places| [bounds.low(), bounds.high()].map(|bound| write(bound, places)))
            .find(|[low, high]| low == high)
            .map(|[text, _]| text)
    };
    let decimal = |most| agreed(most, |bound, places| trimmed(&format!("{bound:.places$}")));
    let with_power = |most| agreed(most, |bound, places| format!("{bound:.places$e}"));
    let text = if DECIMAL.contains(&size) {
        decimal(PLACES).or_else(|| with_power(LEADING_DIGITS - 1))
    } else if size < DECIMAL.start {
        with_power(PLACES).or_else(|| decimal(PLACES))
    } else {
        with_power(LEADING_DIGITS - 1)
    };
    text.ok_or_else(Fault::unprovable)
}

/// Removes trailing zeros after the decimal point, and the sign of zero.
fn trimmed(text: &str) -> String {
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Formats units: `km/h`, `m^2`, `s^-1`.
fn units(units: &[Factor]) -> String {
    let name = |factor: &Factor, power: i32| match power {
        1 => factor.name.clone(),
        power => format!("{}^{power}", factor.name),
    };
    let (over, under): (Vec<&Factor>, Vec<&Factor>) = units.iter().partition(|factor| factor.power > 0);
    let joined = |factors: &[&Factor], sign: i32| {
        factors.iter().map(|factor| name(factor, factor.power * sign)).collect::<Vec<_>>().join(" ")
    };
    match (over.as_slice(), under.as_slice()) {
        (over, []) => joined(over, 1),
        ([], under) => joined(under, 1),
        (over, [one]) => format!("{}/{}", joined(over, 1), joined(&[one], -1)),
        (over, under) => format!("{}/({})", joined(over, 1), joined(under, -1)),
    }
}
