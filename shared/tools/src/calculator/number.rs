use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use super::fault::Fault;

/// Largest numerator and denominator, in bits: some 12 000 decimal digits. One operation takes milliseconds at most.
const MAX_BITS: u64 = 40_000;

/// Largest exponent of ten in a decimal literal.
const MAX_EXPONENT: u32 = 12_000;

/// Largest denominator of an exponent for which an exact root is tried.
const MAX_ROOT: u32 = 64;

/// Smallest whole number whose factorial is too large in any case.
const MAX_FACTORIAL: u32 = 4_000;

/// A real number: an exact fraction of bounded size, or a float of about 15 correct digits, which is finite.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Exact(BigRational),
    Approximate(f64),
}

use Number::{Approximate, Exact};

impl Number {
    /// A fraction; an error if it is too large.
    pub(super) fn exact(value: BigRational) -> Result<Self, Fault> {
        let bits = value.numer().bits().max(value.denom().bits());
        if bits <= MAX_BITS { Ok(Exact(value)) } else { Err(Fault::TooLarge) }
    }

    /// A float; an error if it is out of range.
    pub(super) fn approximate(value: f64) -> Result<Self, Fault> {
        if value.is_finite() { Ok(Approximate(value)) } else { Err(Fault::TooLarge) }
    }

    pub(super) fn whole(number: impl Into<BigInt>) -> Self {
        Exact(BigRational::from_integer(number.into()))
    }

    pub(super) fn from_digits(digits: &str, base: u32) -> Result<Self, Fault> {
        let number = BigUint::parse_bytes(digits.as_bytes(), base);
        number.map(Self::whole).ok_or_else(|| Fault::unreadable(|texts| texts.bad_number))
    }

    /// A number in decimal notation: digits with at most one point, times a power of ten.
    pub(super) fn from_decimal(digits: &str, exponent: i32) -> Result<Self, Fault> {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let exponent = exponent.saturating_sub(i32::try_from(fraction.len()).unwrap_or(i32::MAX));
        if exponent.unsigned_abs() > MAX_EXPONENT {
            return Err(Fault::TooLarge);
        }
        let ten = Exact(BigRational::from_integer(10.into()).pow(exponent));
        Self::from_digits(&format!("{whole}{fraction}"), 10)?.multiply(&ten)
    }

    /// The size in machine integers.
    pub(super) fn limbs(&self) -> u64 {
        match self {
            Exact(number) => 1 + (number.numer().bits() + number.denom().bits()) / u64::from(u64::BITS),
            Approximate(_) => 1,
        }
    }

    /// The nearest float; an error if the number is out of its range.
    pub(super) fn float(&self) -> Result<f64, Fault> {
        match self {
            Exact(number) if number.is_zero() => Ok(0.0),
            Exact(number) => number.to_f64().filter(|value| value.is_normal()).ok_or(Fault::TooLarge),
            Approximate(value) => Ok(*value),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        match self {
            Exact(number) => number.is_zero(),
            Approximate(value) => *value == 0.0,
        }
    }

    /// Whether this is exactly one.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Exact(number) if number.is_one())
    }

    pub(super) fn is_negative(&self) -> bool {
        match self {
            Exact(number) => number.is_negative(),
            Approximate(value) => *value < 0.0,
        }
    }

    fn join(
        &self,
        other: &Self,
        exact: fn(&BigRational, &BigRational) -> BigRational,
        float: fn(f64, f64) -> f64,
    ) -> Result<Self, Fault> {
        match (self, other) {
            (Exact(one), Exact(other)) => Self::exact(exact(one, other)),
            _ => Self::approximate(float(self.float()?, other.float()?)),
        }
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self, Fault> {
        self.join(other, |one, other| one + other, |one, other| one + other)
    }

    pub(super) fn subtract(&self, other: &Self) -> Result<Self, Fault> {
        self.join(other, |one, other| one - other, |one, other| one - other)
    }

    pub(super) fn multiply(&self, other: &Self) -> Result<Self, Fault> {
        self.join(other, |one, other| one * other, |one, other| one * other)
    }

    pub(super) fn divide(&self, other: &Self) -> Result<Self, Fault> {
        if other.is_zero() {
            return Err(Fault::division_by_zero());
        }
        self.join(other, |one, other| one / other, |one, other| one / other)
    }

    pub(super) fn negate(&self) -> Self {
        match self {
            Exact(number) => Exact(-number),
            Approximate(value) => Approximate(-value),
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Result<Ordering, Fault> {
        match (self, other) {
            // Not by `BigRational::cmp`, nor `==`, because it recurses thousands of times for large fractions that are nearly
            // equal: https://github.com/rust-num/num-rational/issues/140 (November 2026).
            (Exact(one), Exact(other)) => Ok((one.numer() * other.denom()).cmp(&(other.numer() * one.denom()))),
            _ => Ok(self.float()?.total_cmp(&other.float()?)),
        }
    }

    /// Raises to a power; exact for whole exponents and for exact roots, unless the exact result is too large.
    pub(super) fn power(&self, exponent: &Self) -> Result<Self, Fault> {
        if let (Exact(base), Exact(exponent)) = (self, exponent)
            && let Some(power) = exact_power(base, exponent)?
        {
            return Ok(power);
        }
        let (base, exponent) = (self.float()?, exponent.float()?);
        if base < 0.0 && exponent.fract() != 0.0 {
            return Err(Fault::undefined(|texts| texts.negative_power));
        }
        positive_range(base.powf(exponent))
    }

    pub(super) fn ln(&self) -> Result<f64, Fault> {
        if self.is_negative() || self.is_zero() {
            return Err(Fault::undefined(|texts| texts.logarithm));
        }
        match (self, self.float()) {
            (Exact(number), Err(_)) => Ok(large_ln(number.numer()) - large_ln(number.denom())),
            (_, value) => Ok(value?.ln()),
        }
    }

    pub(super) fn factorial(&self) -> Result<Self, Fault> {
        match self {
            Exact(number) if number.is_integer() && !number.is_negative() => {
                let n = number.numer().to_u32().filter(|n| *n < MAX_FACTORIAL).ok_or(Fault::TooLarge)?;
                Self::exact(BigRational::from_integer((1..=n).map(BigInt::from).product()))
            }
            _ => Err(Fault::undefined(|texts| texts.factorial)),
        }
    }
}

/// A power or exponential, which is never zero: one that a float cannot represent has no digits.
pub(super) fn positive_range(value: f64) -> Result<Number, Fault> {
    if value.abs() < f64::MIN_POSITIVE { Err(Fault::TooLarge) } else { Number::approximate(value) }
}

/// The exact power, if there is one of bounded size.
fn exact_power(base: &BigRational, exponent: &BigRational) -> Result<Option<Number>, Fault> {
    if base.is_zero() {
        return match exponent.numer().sign() {
            Sign::NoSign => Err(Fault::undefined(|texts| texts.zero_to_zero)),
            Sign::Minus => Err(Fault::division_by_zero()),
            Sign::Plus => Ok(Some(Number::whole(0))),
        };
    }
    let root = match exponent.denom().to_u32() {
        _ if base.is_one() => Some(base.clone()),
        Some(1) => Some(base.clone()),
        Some(degree @ 2..=MAX_ROOT) => exact_root(base, degree),
        _ => None,
    };
    // The size of the result is known before it is calculated. A number that is too large may still be in the range of a
    // float.
    let bits = |root: &BigRational| root.numer().bits().max(root.denom().bits()) - 1;
    let root = root.filter(|root| exponent.numer().magnitude() * bits(root) <= MAX_BITS.into());
    Ok(root.and_then(|root| Number::exact(Pow::pow(root, exponent.numer())).ok()))
}

/// The root of a number, if both are not negative fractions.
pub(super) fn exact_root(number: &BigRational, degree: u32) -> Option<BigRational> {
    let root = |of: &BigInt| Some(of.nth_root(degree)).filter(|root| root.pow(degree) == *of);
    let is_possible = !number.is_negative();
    is_possible.then(|| Some(BigRational::new_raw(root(number.numer())?, root(number.denom())?))).flatten()
}

/// The logarithm of a positive whole number of any size.
fn large_ln(number: &BigInt) -> f64 {
    let shift = number.bits().saturating_sub(u64::from(u64::BITS));
    let leading = (number >> shift).to_f64().unwrap_or(f64::MAX);
    shift.to_f64().unwrap_or(f64::MAX).mul_add(std::f64::consts::LN_2, leading.ln())
}
