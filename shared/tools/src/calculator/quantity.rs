use super::fault::{Fault, SyntaxFault};
use super::number::Number;
use super::units::{UNITS, Unit};

mod conversion;

/// Largest power of a unit; units multiply up to this.
const MAX_POWER: i32 = 12;

/// A power of a unit, with the unit's name as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factor {
    pub(super) unit: usize,
    pub(super) name: String,
    pub(super) power: i32,
}

/// A number with its units.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) number: Number,
    pub(super) units: Vec<Factor>,
}

impl From<Number> for Quantity {
    fn from(number: Number) -> Self {
        Self { number, units: Vec::new() }
    }
}

impl Factor {
    fn unit(&self) -> &'static Unit {
        &UNITS[self.unit]
    }

    fn has_offset(&self) -> bool {
        self.unit().has_offset()
    }
}

impl Quantity {
    /// One of a unit.
    pub(super) fn of(unit: usize, name: &str) -> Self {
        let factor = Factor { unit, name: name.to_owned(), power: 1 };
        Self { number: Number::Exact(1.into()), units: vec![factor] }
    }

    pub(super) fn negate(self) -> Self {
        Self { number: self.number.negate(), ..self }
    }

    pub(super) fn add(self, other: &Self) -> Result<Self, Fault> {
        self.without_offset()?;
        other.without_offset()?;
        let other = other.number_in(&self.units)?;
        Ok(Self { number: self.number.add(&other)?, ..self })
    }

    pub(super) fn multiply(self, other: &Self) -> Result<Self, Fault> {
        // A number gives a temperature its unit; nothing else multiplies one.
        if !self.units.is_empty() || !matches!(self.number, Number::Exact(_)) {
            other.without_offset()?;
        }
        self.without_offset()?;
        let mut product = Self { number: self.number.multiply(&other.number)?, units: self.units };
        for factor in &other.units {
            product.multiply_by(factor)?;
        }
        product.units.retain(|factor| factor.power != 0);
        Ok(product)
    }

    pub(super) fn divide(self, other: &Self) -> Result<Self, Fault> {
        other.without_offset()?;
        let number = Number::Exact(1.into()).divide(&other.number)?;
        let units = other.units.iter().map(|factor| Factor { power: -factor.power, ..factor.clone() }).collect();
        self.multiply(&Self { number, units })
    }

    /// Multiplies by a power of a unit, converted to a unit of the same dimension if the quantity has one.
    fn multiply_by(&mut self, factor: &Factor) -> Result<(), Fault> {
        let alike = |known: &&mut Factor| known.unit().dimension == factor.unit().dimension;
        let Some(known) = self.units.iter_mut().find(alike) else {
            self.units.push(factor.clone());
            return Ok(());
        };
        let ratio = Number::Exact(i64::from(factor.power).into());
        if known.unit != factor.unit {
            let ratio = factor.unit().size()?.divide(&known.unit().size()?)?.power(&ratio)?;
            self.number = self.number.multiply(&ratio)?;
        }
        known.power += factor.power;
        if known.power.abs() > MAX_POWER { Err(Fault::TooLarge) } else { Ok(()) }
    }

    pub(super) fn power(self, exponent: &Self) -> Result<Self, Fault> {
        let exponent = exponent.plain()?;
        if self.units.is_empty() {
            return Ok(self.number.power(&exponent)?.into());
        }
        self.without_offset()?;
        let whole = match &exponent {
            Number::Exact(exponent) => exponent.integer().and_then(|power| i32::try_from(power).ok()),
            _ => None,
        };
        let whole = whole.filter(|power| power.abs() <= MAX_POWER);
        let whole = whole.ok_or(SyntaxFault::UnitPower)?;
        let units = self.units.into_iter().map(|factor| Factor { power: factor.power * whole, ..factor }).collect();
        let product = Self { number: self.number.power(&exponent)?, units };
        let is_small = product.units.iter().all(|factor| factor.power.abs() <= MAX_POWER);
        is_small.then_some(product).ok_or(Fault::TooLarge)
    }

    /// The quantity in other units of the same dimension.
    pub(super) fn convert(&self, target: &[Factor]) -> Result<Self, Fault> {
        let number = match (self.units.as_slice(), target) {
            ([from], [to]) if from.power == 1 && to.power == 1 && (from.has_offset() || to.has_offset()) => {
                self.converted_scale(from.unit(), to.unit())?
            }
            _ => {
                self.without_offset()?;
                Self { number: self.number.clone(), units: target.to_vec() }.without_offset()?;
                self.number_in(target)?
            }
        };
        Ok(Self { number, units: target.to_vec() })
    }

    /// Converts the number to another unit, whose zero may differ.
    fn converted_scale(&self, from: &Unit, to: &Unit) -> Result<Number, Fault> {
        if from.dimension != to.dimension {
            return Err(conversion::mismatch());
        }
        let absolute = self.number.add(&from.offset()?)?.multiply(&from.size()?)?;
        absolute.divide(&to.size()?)?.subtract(&to.offset()?)
    }

    /// The number in units of the same dimension.
    fn number_in(&self, units: &[Factor]) -> Result<Number, Fault> {
        if self.units == units { Ok(self.number.clone()) } else { conversion::number(&self.number, &self.units, units) }
    }

    /// The number without units: angles are in radians, and nothing else is left of them.
    pub(super) fn plain(&self) -> Result<Number, Fault> {
        self.number_in(&[])
    }

    /// The number in the units of another quantity.
    pub(super) fn number_like(&self, other: &Self) -> Result<Number, Fault> {
        self.without_offset()?;
        self.number_in(&other.units)
    }

    fn without_offset(&self) -> Result<(), Fault> {
        if self.units.iter().any(Factor::has_offset) {
            return Err(SyntaxFault::Temperature.into());
        }
        Ok(())
    }
}
