use std::f64::consts;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use super::fault::{Domain, Fault};
use super::rational::Rational;

/// Maximum error of the platform's mathematical functions, in units of the last place; those in use are within two.
const ULPS: usize = 4;

/// The bounds of a real number that is not known exactly; both are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    pub(super) const PI: Self = Self { low: consts::PI, high: consts::PI.next_up() };
    pub(super) const E: Self = Self { low: consts::E, high: consts::E.next_up() };

    pub(super) fn low(self) -> f64 {
        self.low
    }

    pub(super) fn high(self) -> f64 {
        self.high
    }

    /// Widens bounds by the rounding error of one operation.
    fn rounded(low: f64, high: f64) -> Result<Self, Fault> {
        Self::checked(low.next_down(), high.next_up())
    }

    /// Widens bounds by the error of a function.
    fn widened(low: f64, high: f64) -> Result<Self, Fault> {
        let (mut low, mut high) = (low, high);
        for _ in 0..ULPS {
            (low, high) = (low.next_down(), high.next_up());
        }
        Self::checked(low, high)
    }

    fn checked(low: f64, high: f64) -> Result<Self, Fault> {
        if low.is_finite() && high.is_finite() { Ok(Self { low, high }) } else { Err(Fault::TooLarge) }
    }

    /// Returns the bounds of a fraction within the range of `f64`.
    pub(super) fn of(number: &Rational) -> Result<Self, Fault> {
        let (mantissa, exponent) = scaled(number);
        let Some(power) = i32::try_from(exponent).ok().filter(|power| power.abs() < 960) else {
            return if number.is_zero() { Ok(Self { low: 0.0, high: 0.0 }) } else { Err(Fault::TooLarge) };
        };
        let scale = 2_f64.powi(power);
        Self::checked(mantissa.low * scale, mantissa.high * scale)
    }

    pub(super) fn add(self, other: Self) -> Result<Self, Fault> {
        Self::rounded(self.low + other.low, self.high + other.high)
    }

    pub(super) fn negate(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    pub(super) fn multiply(self, other: Self) -> Result<Self, Fault> {
        self.corners(other, |one, other| one * other)
    }

    pub(super) fn divide(self, other: Self) -> Result<Self, Fault> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return Err(Fault::unprovable());
        }
        self.corners(other, |one, other| one / other)
    }

    fn corners(self, other: Self, operation: fn(f64, f64) -> f64) -> Result<Self, Fault> {
        let Self { low, high } = self;
        let corners =
            [(low, other.low), (low, other.high), (high, other.low), (high, other.high)].map(|(a, b)| operation(a, b));
        if corners.iter().any(|corner| corner.is_nan()) {
            return Err(Fault::TooLarge);
        }
        let low = corners.into_iter().fold(f64::INFINITY, f64::min);
        Self::rounded(low, corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    /// A function that grows with its argument over the whole interval.
    pub(super) fn growing(self, function: fn(f64) -> f64) -> Result<Self, Fault> {
        Self::widened(function(self.low), function(self.high))
    }

    /// Sine or cosine, which never change faster than their argument.
    pub(super) fn wave(self, function: fn(f64) -> f64) -> Result<Self, Fault> {
        let (value, width) = (function(self.low), (self.high - self.low).next_up());
        let wave = Self::widened(value - width, value + width)?;
        Ok(Self { low: wave.low.max(-1.0), high: wave.high.min(1.0) })
    }

    /// The natural logarithm.
    pub(super) fn ln(self) -> Result<Self, Fault> {
        if self.high <= 0.0 {
            return Err(Fault::outside(Domain::Logarithm));
        }
        if self.low <= 0.0 { Err(Fault::unprovable()) } else { self.growing(f64::ln) }
    }

    /// The natural logarithm of a fraction of any size.
    pub(super) fn ln_of(number: &Rational) -> Result<Self, Fault> {
        if number.is_negative() || number.is_zero() {
            return Err(Fault::outside(Domain::Logarithm));
        }
        if let Ok(near) = Self::of(number) {
            return near.ln();
        }
        let (mantissa, exponent) = scaled(number);
        let exponent = Self::of(&Rational::from(exponent))?;
        let two = Self { low: consts::LN_2.next_down(), high: consts::LN_2.next_up() };
        mantissa.ln()?.add(exponent.multiply(two)?)
    }

    pub(super) fn exp(self) -> Result<Self, Fault> {
        let power = self.growing(f64::exp)?;
        // A result that may be zero has no digits.
        if power.low <= f64::MIN_POSITIVE { Err(Fault::TooLarge) } else { Ok(power) }
    }

    /// Returns the whole number on which both bounds agree.
    pub(super) fn whole(self, function: fn(f64) -> f64) -> Result<i64, Fault> {
        let (low, high) = (function(self.low), function(self.high));
        let is_certain = low.to_bits() == high.to_bits() && low.abs() < 9e15;
        low.to_i64().filter(|_| is_certain).ok_or_else(Fault::unprovable)
    }

    pub(super) fn is_within(self, low: f64, high: f64) -> bool {
        self.low >= low && self.high <= high
    }
}

/// A fraction as bounds from 1/2 to 2 (or their negatives) times a power of two.
fn scaled(number: &Rational) -> (Interval, i64) {
    let signed = |bits: u64| i64::try_from(bits).unwrap_or(i64::MAX);
    let (top, bottom) = (number.numerator().abs(), number.denominator());
    let exponent = signed(top.bits()) - signed(bottom.bits());
    let shift = 62 - exponent;
    let shift_bits = shift.unsigned_abs();
    let (top, bottom) = if shift < 0 { (top, bottom << shift_bits) } else { (top << shift_bits, bottom.clone()) };
    let (quotient, rest): (BigInt, BigInt) = num_integer::Integer::div_rem(&top, &bottom);
    let quotient = quotient.to_u64().unwrap_or(u64::MAX);
    let is_exact = rest.is_zero() && quotient >> quotient.trailing_zeros().min(63) < 1 << 53;
    let value = quotient.to_f64().unwrap_or(0.0) * 2_f64.powi(-62);
    let bounds = if is_exact || quotient == 0 { (value, value) } else { (value.next_down(), value.next_up()) };
    let bounds = Interval { low: bounds.0, high: bounds.1 };
    (if number.is_negative() { bounds.negate() } else { bounds }, exponent)
}
