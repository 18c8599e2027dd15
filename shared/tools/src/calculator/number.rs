use std::cmp::Ordering;

use super::fault::{Domain, Fault};
use super::rational::Rational;

/// Largest denominator of an exponent for which an exact root is tried.
const MAX_ROOT: u32 = 64;

/// A real number: an exact fraction, or a float of about 15 correct digits, which is finite.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Exact(Rational),
    Approximate(f64),
}

use Number::{Approximate, Exact};

type ExactOperation = fn(&Rational, &Rational) -> Result<Rational, Fault>;

impl Number {
    /// A float; an error if it is out of range.
    pub(super) fn approximate(value: f64) -> Result<Self, Fault> {
        if value.is_finite() { Ok(Approximate(value)) } else { Err(Fault::TooLarge) }
    }

    /// The nearest float; an error if the number is out of its range.
    pub(super) fn float(&self) -> Result<f64, Fault> {
        match self {
            Exact(number) => number.float().ok_or(Fault::TooLarge),
            Approximate(value) => Ok(*value),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        match self {
            Exact(number) => number.is_zero(),
            Approximate(value) => *value == 0.0,
        }
    }

    fn join(&self, other: &Self, exact: ExactOperation, float: fn(f64, f64) -> f64) -> Result<Self, Fault> {
        match (self, other) {
            (Exact(one), Exact(other)) => exact(one, other).map(Exact),
            _ => Self::approximate(float(self.float()?, other.float()?)),
        }
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self, Fault> {
        self.join(other, Rational::add, |one, other| one + other)
    }

    pub(super) fn subtract(&self, other: &Self) -> Result<Self, Fault> {
        self.add(&other.negate())
    }

    pub(super) fn negate(&self) -> Self {
        match self {
            Exact(number) => Exact(number.negate()),
            Approximate(value) => Approximate(-value),
        }
    }

    pub(super) fn multiply(&self, other: &Self) -> Result<Self, Fault> {
        self.join(other, Rational::multiply, |one, other| one * other)
    }

    pub(super) fn divide(&self, other: &Self) -> Result<Self, Fault> {
        if other.is_zero() {
            return Err(Fault::division_by_zero());
        }
        self.join(other, Rational::divide, |one, other| one / other)
    }

    /// Raises to a power; exact for whole exponents and for exact roots, unless the exact result is too large.
    pub(super) fn power(&self, exponent: &Self) -> Result<Self, Fault> {
        let whole = match (self, exponent) {
            (Exact(base), Exact(exponent)) => match exact_power(base, exponent)? {
                Some(power) => return Ok(Exact(power)),
                None => exponent.is_integer(),
            },
            _ => false,
        };
        let (base, exponent) = (self.float()?, exponent.float()?);
        if base < 0.0 && !whole && exponent.fract() != 0.0 {
            return Err(Fault::outside(Domain::NegativePower));
        }
        positive_range(base.powf(exponent))
    }

    /// The natural logarithm.
    pub(super) fn ln(&self) -> Result<f64, Fault> {
        match self {
            Exact(number) => number.ln(),
            Approximate(value) if *value > 0.0 => Some(value.ln()),
            Approximate(_) => None,
        }
        .ok_or_else(|| Fault::outside(Domain::Logarithm))
    }

    pub(super) fn compare(&self, other: &Self) -> Result<Ordering, Fault> {
        match (self, other) {
            (Exact(one), Exact(other)) => Ok(one.compare(other)),
            _ => Ok(self.float()?.total_cmp(&other.float()?)),
        }
    }
}

/// A power or exponential, which is never zero: one that a float cannot represent has no digits.
pub(super) fn positive_range(value: f64) -> Result<Number, Fault> {
    if value.abs() < f64::MIN_POSITIVE { Err(Fault::TooLarge) } else { Number::approximate(value) }
}

/// The exact power, if there is one of bounded size.
fn exact_power(base: &Rational, exponent: &Rational) -> Result<Option<Rational>, Fault> {
    let one = Rational::from(1);
    if base.is_zero() {
        let sign = if exponent.is_negative() { -1 } else { i64::from(!exponent.is_zero()) };
        return base.power(sign).map(Some);
    }
    if *base == one || exponent.is_zero() {
        return Ok(Some(one));
    }
    let Ok(degree) = u32::try_from(exponent.denominator()) else { return Ok(None) };
    let Ok(power) = i64::try_from(exponent.numerator()) else { return Ok(None) };
    let root = match degree {
        1 => Some(base.clone()),
        2..=MAX_ROOT if !base.is_negative() => base.root(degree),
        _ => None,
    };
    // A number that is too large to be exact may still be in the range of a float.
    Ok(root.and_then(|root| root.power(power).ok()))
}
