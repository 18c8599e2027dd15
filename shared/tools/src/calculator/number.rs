use std::cmp::Ordering;

use super::fault::{Domain, Fault};
use super::interval::Interval;
use super::rational::Rational;

/// Largest denominator of an exponent for which an exact root is tried.
const MAX_ROOT: u32 = 64;

/// A real number: exact, an exact multiple of π, or between two bounds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Exact(Rational),
    Pi(Rational),
    Approximate(Interval),
}

use Number::{Approximate, Exact, Pi};

impl Number {
    pub(super) fn interval(&self) -> Result<Interval, Fault> {
        match self {
            Exact(number) => Interval::of(number),
            Pi(factor) => Interval::of(factor)?.multiply(Interval::PI),
            Approximate(interval) => Ok(*interval),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Exact(number) | Pi(number) if number.is_zero())
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self, Fault> {
        match (self, other) {
            (Exact(one), Exact(other)) => one.add(other).map(Exact),
            (Pi(one), Pi(other)) => one.add(other).map(Self::multiple_of_pi),
            (number, zero) | (zero, number) if zero.is_zero() => Ok(number.clone()),
            _ => self.interval()?.add(other.interval()?).map(Approximate),
        }
    }

    pub(super) fn subtract(&self, other: &Self) -> Result<Self, Fault> {
        self.add(&other.negate())
    }

    pub(super) fn negate(&self) -> Self {
        match self {
            Exact(number) => Exact(number.negate()),
            Pi(factor) => Pi(factor.negate()),
            Approximate(interval) => Approximate(interval.negate()),
        }
    }

    pub(super) fn multiply(&self, other: &Self) -> Result<Self, Fault> {
        match (self, other) {
            (Exact(one), Exact(other)) => one.multiply(other).map(Exact),
            (Exact(one), Pi(other)) | (Pi(one), Exact(other)) => one.multiply(other).map(Self::multiple_of_pi),
            (_, zero) | (zero, _) if zero.is_zero() => Ok(Exact(0.into())),
            _ => self.interval()?.multiply(other.interval()?).map(Approximate),
        }
    }

    pub(super) fn divide(&self, other: &Self) -> Result<Self, Fault> {
        match (self, other) {
            (_, zero) if zero.is_zero() => Err(Fault::division_by_zero()),
            (Exact(one), Exact(other)) | (Pi(one), Pi(other)) => one.divide(other).map(Exact),
            (Pi(one), Exact(other)) => one.divide(other).map(Self::multiple_of_pi),
            (zero, _) if zero.is_zero() => Ok(Exact(0.into())),
            _ => self.interval()?.divide(other.interval()?).map(Approximate),
        }
    }

    fn multiple_of_pi(factor: Rational) -> Self {
        if factor.is_zero() { Exact(factor) } else { Pi(factor) }
    }

    /// Raises to a power; exact for whole exponents and for exact roots, unless the exact result is too large.
    pub(super) fn power(&self, exponent: &Self) -> Result<Self, Fault> {
        if let (Exact(base), Exact(exponent)) = (self, exponent) {
            if let Some(power) = exact_power(base, exponent)? {
                return Ok(Exact(power));
            }
            if base.is_negative() {
                return negative_power(base, exponent);
            }
        }
        if let (Pi(_) | Approximate(_), Exact(exponent)) = (self, exponent)
            && let Some(whole) = exponent.integer().filter(|whole| whole.unsigned_abs() <= 64)
        {
            return self.repeated(whole);
        }
        let logarithm = self.ln()?;
        exponent.interval()?.multiply(logarithm)?.exp().map(Approximate)
    }

    /// A small whole power by multiplication, for any sign of the base.
    fn repeated(&self, exponent: i64) -> Result<Self, Fault> {
        let mut power = Exact(1.into());
        for _ in 0..exponent.unsigned_abs() {
            power = power.multiply(self)?;
        }
        if exponent < 0 { Exact(1.into()).divide(&power) } else { Ok(power) }
    }

    /// The bounds of the natural logarithm.
    pub(super) fn ln(&self) -> Result<Interval, Fault> {
        match self {
            Exact(number) => Interval::ln_of(number),
            _ => self.interval()?.ln(),
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Result<Ordering, Fault> {
        if let (Exact(one), Exact(other)) | (Pi(one), Pi(other)) = (self, other) {
            return Ok(one.compare(other));
        }
        let (one, other) = (self.interval()?, other.interval()?);
        if one.high() < other.low() {
            Ok(Ordering::Less)
        } else if one.low() > other.high() {
            Ok(Ordering::Greater)
        } else if one == other {
            Ok(Ordering::Equal)
        } else {
            Err(Fault::unprovable())
        }
    }
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
    // A number that is too large to be exact may still have a magnitude.
    Ok(root.and_then(|root| root.power(power).ok()))
}

/// The power of a negative number that is too large to be exact.
fn negative_power(base: &Rational, exponent: &Rational) -> Result<Number, Fault> {
    if !exponent.is_integer() {
        return Err(Fault::outside(Domain::NegativePower));
    }
    let magnitude = Exact(base.negate()).power(&Exact(exponent.clone()))?;
    let half = exponent.divide(&2.into())?;
    Ok(if half.is_integer() { magnitude } else { magnitude.negate() })
}
