//! The functions of expressions, by name.

use std::cmp::Ordering;

use num_traits::ToPrimitive;

use super::fault::{Domain, Fault, SyntaxFault};
use super::number::{Number, positive_range};
use super::rational::Rational;

use Number::{Approximate, Exact};

/// Largest argument of sine, cosine and tangent that is no whole number: a larger one has too few correct digits.
const MAX_ANGLE: f64 = 1e5;

/// Range in which a float represents whole numbers exactly.
const MAX_WHOLE: f64 = 9e15;

/// A function of numbers; a wrong number of arguments gives `None`.
type Function = fn(&[Number]) -> Option<Result<Number, Fault>>;

/// A function of one number.
type Unary = fn(&Number) -> Result<Number, Fault>;

/// The functions of exactly one argument.
const UNARY: [(&str, Unary); 20] = [
    ("sqrt", |x| root(x, 2)),
    ("cbrt", |x| root(x, 3)),
    ("abs", absolute),
    ("floor", |x| whole(x, Rational::floor, f64::floor)),
    ("ceil", |x| whole(x, |x| x.negate().floor().negate(), f64::ceil)),
    ("sin", |x| Ok(Approximate(wave(x, f64::sin)?))),
    ("cos", |x| Ok(Approximate(wave(x, f64::cos)?))),
    ("tan", |x| Approximate(wave(x, f64::sin)?).divide(&Approximate(wave(x, f64::cos)?))),
    ("asin", |x| inverse(x, f64::asin)),
    ("arcsin", |x| inverse(x, f64::asin)),
    ("acos", |x| inverse(x, f64::acos)),
    ("arccos", |x| inverse(x, f64::acos)),
    ("atan", |x| Number::approximate(x.float()?.atan())),
    ("arctan", |x| Number::approximate(x.float()?.atan())),
    ("ln", |x| logarithm(x, None)),
    ("lg", |x| logarithm(x, Some(10))),
    ("log10", |x| logarithm(x, Some(10))),
    ("log2", |x| logarithm(x, Some(2))),
    ("exp", |x| if x.is_zero() { Ok(Exact(1.into())) } else { positive_range(x.float()?.exp()) }),
    ("factorial", factorial),
];

/// The functions of several arguments.
const SEVERAL: [(&str, Function); 6] = [
    ("min", |of| extreme(of, Ordering::Less)),
    ("max", |of| extreme(of, Ordering::Greater)),
    ("pow", |of| two(of).map(|(x, y)| x.power(y))),
    ("mod", |of| two(of).map(|(x, y)| modulo(x, y))),
    ("log", |of| match of {
        [x] => Some(logarithm(x, Some(10))),
        [x, base] => Some(logarithm_to(x, base)),
        _ => None,
    }),
    ("round", |of| match of {
        [x] => Some(round(x)),
        [x, decimals] => Some(round_to(x, decimals)),
        _ => None,
    }),
];

/// Whether a function of this name exists.
pub(super) fn exists(name: &str) -> bool {
    takes_several(name) || UNARY.iter().any(|(known, _)| *known == name)
}

/// Whether commas inside the parentheses of this function separate arguments.
pub(super) fn takes_several(name: &str) -> bool {
    SEVERAL.iter().any(|(known, _)| *known == name)
}

/// The value of a function.
pub(super) fn call(name: &str, arguments: &[Number]) -> Result<Number, Fault> {
    let wrong_count = || Fault::from(SyntaxFault::ArgumentCount(name.to_owned()));
    if let Some((_, function)) = SEVERAL.iter().find(|(known, _)| *known == name) {
        return function(arguments).unwrap_or_else(|| Err(wrong_count()));
    }
    let function = UNARY.iter().find(|(known, _)| *known == name).map(|(_, function)| function);
    let [argument] = arguments else { return Err(wrong_count()) };
    function.ok_or_else(wrong_count)?(argument)
}

/// The factorial of an exact number.
pub(super) fn factorial(x: &Number) -> Result<Number, Fault> {
    match x {
        Exact(number) => number.factorial().map(Exact),
        Approximate(_) => Err(Fault::outside(Domain::Factorial)),
    }
}

/// The rest of a division, with the sign of the divisor.
pub(super) fn modulo(x: &Number, y: &Number) -> Result<Number, Fault> {
    if y.is_zero() {
        return Err(Fault::division_by_zero());
    }
    let quotient = whole(&x.divide(y)?, Rational::floor, f64::floor)?;
    x.subtract(&quotient.multiply(y)?)
}

fn two(arguments: &[Number]) -> Option<(&Number, &Number)> {
    let [first, second] = arguments else { return None };
    Some((first, second))
}

fn root(x: &Number, degree: u32) -> Result<Number, Fault> {
    if x.compare(&Exact(0.into()))? == Ordering::Less {
        let negative = || root(&x.negate(), degree).map(|root| root.negate());
        return if degree % 2 == 1 { negative() } else { Err(Fault::outside(Domain::SquareRoot)) };
    }
    match x {
        Exact(number) if let Some(root) = number.root(degree) => Ok(Exact(root)),
        _ if degree == 2 => Number::approximate(x.float()?.sqrt()),
        _ => Number::approximate(x.float()?.cbrt()),
    }
}

fn absolute(x: &Number) -> Result<Number, Fault> {
    Ok(if x.compare(&Exact(0.into()))? == Ordering::Less { x.negate() } else { x.clone() })
}

/// Rounds to a whole number, if the digits of an approximate number suffice to decide which.
fn whole(x: &Number, exact: fn(&Rational) -> Rational, approximate: fn(f64) -> f64) -> Result<Number, Fault> {
    let value = match x {
        Exact(number) => return Ok(Exact(exact(number))),
        Approximate(value) => *value,
    };
    let [low, high] = [value.abs(), -value.abs()].map(|error| approximate(value - error * 1e-14));
    let whole = if (low - high).abs() < 0.5 && low.abs() < MAX_WHOLE { low.to_i64() } else { None };
    whole.map(|whole| Exact(whole.into())).ok_or_else(Fault::imprecise)
}

fn round(x: &Number) -> Result<Number, Fault> {
    whole(x, Rational::round, f64::round)
}

fn round_to(x: &Number, decimals: &Number) -> Result<Number, Fault> {
    let scale = Exact(10.into()).power(decimals)?;
    round(&x.multiply(&scale)?)?.divide(&scale)
}

/// The arc sine or cosine, which are defined from -1 to 1.
fn inverse(x: &Number, function: fn(f64) -> f64) -> Result<Number, Fault> {
    let value = function(x.float()?);
    if value.is_nan() { Err(Fault::outside(Domain::ArcSine)) } else { Number::approximate(value) }
}

/// Sine or cosine; zero at the multiples of π, which a float only approximates.
fn wave(x: &Number, function: fn(f64) -> f64) -> Result<f64, Fault> {
    let angle = x.float()?;
    let is_whole = matches!(x, Exact(number) if number.is_integer());
    if angle.abs() > if is_whole { MAX_WHOLE } else { MAX_ANGLE } {
        return Err(Fault::imprecise());
    }
    let value = function(angle);
    Ok(if value.abs() < angle.abs() * f64::EPSILON { 0.0 } else { value })
}

fn logarithm(x: &Number, base: Option<i64>) -> Result<Number, Fault> {
    let is_one = matches!(x, Exact(number) if *number == Rational::from(1));
    match base {
        _ if is_one => Ok(Exact(0.into())),
        None => x.ln().map(Approximate),
        Some(base) => logarithm_to(x, &Exact(base.into())),
    }
}

fn logarithm_to(x: &Number, base: &Number) -> Result<Number, Fault> {
    if matches!(base, Exact(number) if *number == Rational::from(1)) {
        return Err(Fault::outside(Domain::LogarithmBase));
    }
    Approximate(x.ln()?).divide(&Approximate(base.ln()?))
}

fn extreme(arguments: &[Number], wanted: Ordering) -> Option<Result<Number, Fault>> {
    let (first, others) = arguments.split_first()?;
    Some(
        others.iter().try_fold(first.clone(), |best, other| {
            Ok(if other.compare(&best)? == wanted { other.clone() } else { best })
        }),
    )
}
