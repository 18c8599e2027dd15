//! The functions of expressions, by name.

use std::cmp::Ordering;

use super::fault::{Domain, Fault, SyntaxFault};
use super::interval::Interval;
use super::number::Number;
use super::rational::Rational;

use Number::{Approximate, Exact, Pi};

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
    ("sin", |x| wave(x, 0, f64::sin)),
    ("cos", |x| wave(x, 3, f64::cos)),
    ("tan", |x| wave(x, 0, f64::sin)?.divide(&wave(x, 3, f64::cos)?)),
    ("asin", |x| inverse(x, f64::asin)),
    ("arcsin", |x| inverse(x, f64::asin)),
    ("acos", |x| inverse(&x.negate(), f64::asin)?.add(&Pi(Rational::from(1).divide(&2.into())?))),
    ("arccos", |x| inverse(&x.negate(), f64::asin)?.add(&Pi(Rational::from(1).divide(&2.into())?))),
    ("atan", |x| growing(x, f64::atan)),
    ("arctan", |x| growing(x, f64::atan)),
    ("ln", |x| logarithm(x, None)),
    ("lg", |x| logarithm(x, Some(10))),
    ("log10", |x| logarithm(x, Some(10))),
    ("log2", |x| logarithm(x, Some(2))),
    ("exp", exponential),
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

/// Whether the function keeps the unit of its argument.
pub(super) fn keeps_unit(name: &str) -> bool {
    matches!(name, "abs" | "floor" | "ceil" | "round" | "min" | "max")
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
        _ => Err(Fault::outside(Domain::Factorial)),
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
    let is_negative = |x: &Number| x.compare(&Exact(0.into())).is_ok_and(|order| order == Ordering::Less);
    if x.is_zero() {
        return Ok(x.clone());
    }
    if is_negative(x) {
        let negative = || root(&x.negate(), degree).map(|root| root.negate());
        return if degree % 2 == 1 { negative() } else { Err(Fault::outside(Domain::SquareRoot)) };
    }
    if let Exact(number) = x
        && let Some(root) = number.root(degree)
    {
        return Ok(Exact(root));
    }
    let interval = x.interval()?;
    if interval.low() < 0.0 {
        return Err(Fault::unprovable());
    }
    interval.growing(if degree == 2 { f64::sqrt } else { f64::cbrt }).map(Approximate)
}

fn absolute(x: &Number) -> Result<Number, Fault> {
    Ok(if x.compare(&Exact(0.into()))? == Ordering::Less { x.negate() } else { x.clone() })
}

fn whole(x: &Number, exact: fn(&Rational) -> Rational, approximate: fn(f64) -> f64) -> Result<Number, Fault> {
    match x {
        Exact(number) => Ok(Exact(exact(number))),
        _ => x.interval()?.whole(approximate).map(|whole| Exact(whole.into())),
    }
}

fn round(x: &Number) -> Result<Number, Fault> {
    whole(x, Rational::round, f64::round)
}

fn round_to(x: &Number, decimals: &Number) -> Result<Number, Fault> {
    let scale = Exact(10.into()).power(decimals)?;
    round(&x.multiply(&scale)?)?.divide(&scale)
}

fn growing(x: &Number, function: fn(f64) -> f64) -> Result<Number, Fault> {
    if x.is_zero() { Ok(Exact(0.into())) } else { x.interval()?.growing(function).map(Approximate) }
}

/// The arc sine, which is defined from -1 to 1.
fn inverse(x: &Number, function: fn(f64) -> f64) -> Result<Number, Fault> {
    let one = Rational::from(1);
    if let Exact(number) = x
        && (number.compare(&one).is_gt() || number.compare(&one.negate()).is_lt())
    {
        return Err(Fault::outside(Domain::ArcSine));
    }
    let interval = x.interval()?;
    if !interval.is_within(-1.0, 1.0) {
        return Err(Fault::unprovable());
    }
    growing(x, function)
}

/// Sine, or cosine as a sine that begins `shift` sixths of π later; exact where the value is rational.
fn wave(x: &Number, shift: i64, function: fn(f64) -> f64) -> Result<Number, Fault> {
    if x.is_zero() {
        return Ok(Exact(i64::from(shift != 0).into()));
    }
    if let Pi(factor) = x {
        let turns = factor.divide(&2.into())?;
        let turn = turns.add(&turns.floor().negate())?;
        if let Some(sixths) = turn.multiply(&12.into())?.integer()
            && let Some(halves) = sine_of_sixths((sixths + shift) % 12)
        {
            return Rational::from(halves).divide(&2.into()).map(Exact);
        }
        return Pi(turn.multiply(&2.into())?).interval()?.wave(function).map(Approximate);
    }
    x.interval()?.wave(function).map(Approximate)
}

/// Returns twice the sine of `sixths` × π/6, if it is a whole number.
fn sine_of_sixths(sixths: i64) -> Option<i64> {
    match sixths {
        0 | 6 => Some(0),
        1 | 5 => Some(1),
        3 => Some(2),
        7 | 11 => Some(-1),
        9 => Some(-2),
        _ => None,
    }
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

fn exponential(x: &Number) -> Result<Number, Fault> {
    if x.is_zero() { Ok(Exact(1.into())) } else { x.interval().and_then(Interval::exp).map(Approximate) }
}

fn extreme(arguments: &[Number], wanted: Ordering) -> Option<Result<Number, Fault>> {
    let (first, others) = arguments.split_first()?;
    Some(
        others.iter().try_fold(first.clone(), |best, other| {
            Ok(if other.compare(&best)? == wanted { other.clone() } else { best })
        }),
    )
}
