//! The functions of expressions, by name.

use std::cmp::Ordering;

use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::fault::Fault;
use super::number::{Number, exact_root, positive_range};

use Number::{Approximate, Exact};

/// Largest argument of sine, cosine and tangent that is no whole number: a larger one has too few correct digits.
const MAX_ANGLE: f64 = 1e5;

/// Range in which a float represents whole numbers exactly.
const MAX_WHOLE: f64 = 9e15;

type Unary = fn(&Number) -> Result<Number, Fault>;

/// The functions of exactly one argument.
const UNARY: [(&str, Unary); 20] = [
    ("sqrt", |x| root(x, 2)),
    ("cbrt", |x| root(x, 3)),
    ("abs", |x| Ok(if x.is_negative() { x.negate() } else { x.clone() })),
    ("floor", |x| whole(x, BigRational::floor, f64::floor)),
    ("ceil", |x| whole(x, BigRational::ceil, f64::ceil)),
    ("sin", |x| wave(x, f64::sin)),
    ("cos", |x| wave(x, f64::cos)),
    ("tan", |x| wave(x, f64::sin)?.divide(&wave(x, f64::cos)?)),
    ("asin", |x| inverse(x, f64::asin)),
    ("arcsin", |x| inverse(x, f64::asin)),
    ("acos", |x| inverse(x, f64::acos)),
    ("arccos", |x| inverse(x, f64::acos)),
    ("atan", |x| Number::approximate(x.float()?.atan())),
    ("arctan", |x| Number::approximate(x.float()?.atan())),
    ("ln", |x| if x.is_one() { Ok(Number::whole(0)) } else { x.ln().map(Approximate) }),
    ("lg", |x| logarithm(x, &Number::whole(10))),
    ("log10", |x| logarithm(x, &Number::whole(10))),
    ("log2", |x| logarithm(x, &Number::whole(2))),
    ("exp", |x| if x.is_zero() { Ok(Number::whole(1)) } else { positive_range(x.float()?.exp()) }),
    ("factorial", Number::factorial),
];

pub(super) fn exists(name: &str) -> bool {
    takes_several(name) || UNARY.iter().any(|(known, _)| *known == name)
}

/// Whether commas inside the parentheses of this function separate arguments.
pub(super) fn takes_several(name: &str) -> bool {
    ["min", "max", "pow", "mod", "log", "round"].contains(&name)
}

pub(super) fn call(name: &str, arguments: &[Number]) -> Result<Number, Fault> {
    match (name, arguments) {
        ("min", [first, others @ ..]) => extreme(first, others, Ordering::Less),
        ("max", [first, others @ ..]) => extreme(first, others, Ordering::Greater),
        ("pow", [x, y]) => x.power(y),
        ("mod", [x, y]) => modulo(x, y),
        ("log", [x]) => logarithm(x, &Number::whole(10)),
        ("log", [x, base]) => logarithm(x, base),
        ("round", [x]) => whole(x, BigRational::round, f64::round),
        ("round", [x, decimals]) => {
            let scale = Number::whole(10).power(decimals)?;
            whole(&x.multiply(&scale)?, BigRational::round, f64::round)?.divide(&scale)
        }
        (_, [x]) if let Some((_, function)) = UNARY.iter().find(|(known, _)| *known == name) => function(x),
        _ => Err(Fault::unreadable_with(|texts| texts.argument_count, "name", name)),
    }
}

/// The rest of a division, with the sign of the divisor.
pub(super) fn modulo(x: &Number, y: &Number) -> Result<Number, Fault> {
    let quotient = whole(&x.divide(y)?, BigRational::floor, f64::floor)?;
    x.subtract(&quotient.multiply(y)?)
}

fn root(x: &Number, degree: u32) -> Result<Number, Fault> {
    match x {
        _ if x.is_negative() && degree == 2 => Err(Fault::undefined(|texts| texts.square_root)),
        _ if x.is_negative() => root(&x.negate(), degree).map(|root| root.negate()),
        Exact(number) if let Some(root) = exact_root(number, degree) => Ok(Exact(root)),
        _ if degree == 2 => Number::approximate(x.float()?.sqrt()),
        _ => Number::approximate(x.float()?.cbrt()),
    }
}

/// Rounds to a whole number, if the digits of an approximate number suffice to decide which.
fn whole(x: &Number, exact: fn(&BigRational) -> BigRational, approximate: fn(f64) -> f64) -> Result<Number, Fault> {
    let value = match x {
        Exact(number) => return Ok(Exact(exact(number))),
        Approximate(value) => *value,
    };
    let [low, high] = [value.abs(), -value.abs()].map(|error| approximate(value - error * 1e-14));
    let whole = if (low - high).abs() < 0.5 && low.abs() < MAX_WHOLE { low.to_i64() } else { None };
    whole.map(Number::whole).ok_or_else(Fault::imprecise)
}

/// The arc sine or cosine, which are defined from -1 to 1.
fn inverse(x: &Number, function: fn(f64) -> f64) -> Result<Number, Fault> {
    let value = function(x.float()?);
    if value.is_nan() { Err(Fault::undefined(|texts| texts.arc_sine)) } else { Number::approximate(value) }
}

/// Sine or cosine; zero at the multiples of π, which a float only approximates.
fn wave(x: &Number, function: fn(f64) -> f64) -> Result<Number, Fault> {
    let angle = x.float()?;
    let is_whole = matches!(x, Exact(number) if number.is_integer());
    if angle.abs() > if is_whole { MAX_WHOLE } else { MAX_ANGLE } {
        return Err(Fault::imprecise());
    }
    let value = function(angle);
    Ok(Approximate(if value.abs() < angle.abs() * f64::EPSILON { 0.0 } else { value }))
}

fn logarithm(x: &Number, base: &Number) -> Result<Number, Fault> {
    if base.is_one() {
        return Err(Fault::undefined(|texts| texts.logarithm_base));
    }
    if x.is_one() { Ok(Number::whole(0)) } else { Approximate(x.ln()?).divide(&Approximate(base.ln()?)) }
}

fn extreme(first: &Number, others: &[Number], wanted: Ordering) -> Result<Number, Fault> {
    let best =
        others.iter().try_fold(first, |best, other| Ok(if other.compare(best)? == wanted { other } else { best }));
    best.cloned()
}
