use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::fault::{Domain, Fault, SyntaxFault, ValueFault};

/// Largest numerator and denominator, in bits: some 12 000 decimal digits. One operation takes milliseconds at most.
const MAX_BITS: u64 = 40_000;

/// Largest exponent of ten in a decimal literal.
const MAX_EXPONENT: i64 = 12_000;

/// An exact fraction in lowest terms, of bounded size; the denominator is positive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rational {
    numerator: BigInt,
    denominator: BigInt,
}

impl Rational {
    fn new(numerator: BigInt, denominator: BigInt) -> Result<Self, Fault> {
        if denominator.is_zero() {
            return Err(Fault::division_by_zero());
        }
        let is_lowest = numerator.magnitude().is_one() || denominator.magnitude().is_one();
        let divisor = if is_lowest { BigInt::one() } else { numerator.gcd(&denominator) };
        let divisor = if denominator.is_negative() { -divisor } else { divisor };
        let reduced = Self { numerator: numerator / &divisor, denominator: denominator / divisor };
        let is_small = reduced.numerator.bits().max(reduced.denominator.bits()) <= MAX_BITS;
        is_small.then_some(reduced).ok_or(Fault::TooLarge)
    }

    /// A number in decimal notation: digits with at most one point, times a power of ten.
    pub(super) fn decimal(digits: &str, exponent: i64) -> Result<Self, Fault> {
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let exponent = exponent.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX));
        if exponent.abs() > MAX_EXPONENT {
            return Err(Fault::TooLarge);
        }
        let numerator = Self::digits(&format!("{whole}{fraction}"), 10)?;
        let ten = Self::from(10).power(exponent)?;
        numerator.multiply(&ten)
    }

    /// A whole number in a base.
    pub(super) fn digits(digits: &str, base: u32) -> Result<Self, Fault> {
        let number = BigUint::parse_bytes(digits.as_bytes(), base);
        let number = number.ok_or(SyntaxFault::BadNumber)?;
        Self::new(number.into(), BigInt::one())
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self, Fault> {
        let numerator = &self.numerator * &other.denominator + &other.numerator * &self.denominator;
        Self::new(numerator, &self.denominator * &other.denominator)
    }

    pub(super) fn multiply(&self, other: &Self) -> Result<Self, Fault> {
        Self::new(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }

    pub(super) fn divide(&self, other: &Self) -> Result<Self, Fault> {
        Self::new(&self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }

    pub(super) fn negate(&self) -> Self {
        Self { numerator: -&self.numerator, denominator: self.denominator.clone() }
    }

    pub(super) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    /// A whole power; the size of the result is checked before it is calculated.
    pub(super) fn power(&self, exponent: i64) -> Result<Self, Fault> {
        let one = BigUint::one();
        if self.denominator.magnitude() == &one && self.numerator.magnitude() <= &one {
            return self.small_power(exponent);
        }
        let bits = self.numerator.bits().max(self.denominator.bits()).saturating_sub(1);
        if bits.saturating_mul(exponent.unsigned_abs()) > MAX_BITS {
            return Err(Fault::TooLarge);
        }
        let times = u32::try_from(exponent.unsigned_abs()).map_err(|_| Fault::TooLarge)?;
        let (numerator, denominator) = (self.numerator.pow(times), self.denominator.pow(times));
        if exponent < 0 { Self::new(denominator, numerator) } else { Self::new(numerator, denominator) }
    }

    /// A power of 0, 1 or -1.
    fn small_power(&self, exponent: i64) -> Result<Self, Fault> {
        match (self.numerator.sign(), exponent) {
            (Sign::NoSign, 0) => Err(Fault::Undefined(ValueFault::ZeroToZero)),
            (Sign::NoSign, ..0) => Err(Fault::division_by_zero()),
            (Sign::Minus, _) if exponent % 2 == 0 => Ok(self.negate()),
            _ => Ok(self.clone()),
        }
    }

    /// The `n`th root of a positive number, if it is a fraction too.
    pub(super) fn root(&self, n: u32) -> Option<Self> {
        let root = |of: &BigInt| {
            let root = of.nth_root(n);
            (root.pow(n) == *of).then_some(root)
        };
        Some(Self { numerator: root(&self.numerator)?, denominator: root(&self.denominator)? })
    }

    pub(super) fn floor(&self) -> Self {
        self.numerator.div_floor(&self.denominator).into()
    }

    /// The nearest whole number; halves are rounded away from zero.
    pub(super) fn round(&self) -> Self {
        let doubled: BigInt = self.numerator.abs() * 2 + &self.denominator;
        let rounded = doubled.div_floor(&(&self.denominator * 2));
        if self.is_negative() { (-rounded).into() } else { rounded.into() }
    }

    pub(super) fn factorial(&self) -> Result<Self, Fault> {
        let Some(n) = self.integer().filter(|n| *n >= 0) else {
            return Err(Fault::outside(Domain::Factorial));
        };
        if n > i64::try_from(MAX_BITS).unwrap_or(i64::MAX) {
            return Err(Fault::TooLarge);
        }
        let mut product = BigInt::one();
        for factor in 2..=n {
            product *= factor;
            if product.bits() > MAX_BITS {
                return Err(Fault::TooLarge);
            }
        }
        Ok(product.into())
    }

    /// The value as a machine integer, if it is one.
    pub(super) fn integer(&self) -> Option<i64> {
        if self.is_integer() { self.numerator.to_i64() } else { None }
    }

    pub(super) fn is_integer(&self) -> bool {
        self.denominator.is_one()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.numerator.is_negative()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// The nearest float; `None` if it is out of range.
    pub(super) fn float(&self) -> Option<f64> {
        let (mantissa, exponent) = self.scaled();
        let value = mantissa * 2_f64.powi(i32::try_from(exponent).ok().filter(|power| power.abs() < 1000)?);
        Some(if self.is_negative() { -value } else { value })
    }

    /// The natural logarithm; `None` if the number is not positive.
    pub(super) fn ln(&self) -> Option<f64> {
        let (mantissa, exponent) = self.scaled();
        let is_positive = !self.is_negative() && !self.is_zero();
        is_positive.then(|| exponent.to_f64().unwrap_or(0.0).mul_add(std::f64::consts::LN_2, mantissa.ln()))
    }

    /// The size as a float from 1/2 to 2 times a power of two.
    fn scaled(&self) -> (f64, i64) {
        let bits = |number: &BigInt| i64::try_from(number.bits()).unwrap_or(i64::MAX);
        let exponent = bits(&self.numerator) - bits(&self.denominator);
        let (top, shift) = (self.numerator.magnitude(), 62 - exponent);
        let (up, down) = (shift.max(0).unsigned_abs(), shift.min(0).unsigned_abs());
        let quotient = (top << up) / (self.denominator.magnitude() << down);
        (quotient.to_f64().unwrap_or(0.0) * 2_f64.powi(-62), exponent)
    }

    pub(super) fn numerator(&self) -> &BigInt {
        &self.numerator
    }

    pub(super) fn denominator(&self) -> &BigInt {
        &self.denominator
    }
}

impl From<i64> for Rational {
    fn from(number: i64) -> Self {
        BigInt::from(number).into()
    }
}

impl From<BigInt> for Rational {
    fn from(numerator: BigInt) -> Self {
        Self { numerator, denominator: BigInt::one() }
    }
}
