//! Converts between units of the same dimension, of which an angle may be a part.
//!
//! A radian may be left out where only one reading exists: `sin(1 rad)`, `2 rad * 3 m to m`. A cycle of a frequency is
//! one turn, so `50 Hz to rpm` has a value. Expressions with two readings, a factor of 2π apart, are rejected.

use super::super::fault::{Fault, SyntaxFault};
use super::super::number::Number;
use super::super::units::{self, Dimension};
use super::Factor;

/// Converts a number in units `from` to units `to`.
pub(super) fn number(number: &Number, from: &[Factor], to: &[Factor]) -> Result<Number, Fault> {
    let turns = turns_per_cycle(from, to)?;
    // π is divided by π before anything else can make an approximation of it.
    let over = size(from, 1)?.multiply(&size(to, -1)?)?.multiply(&whole_turns(turns)?)?;
    let under = size(from, -1)?.multiply(&size(to, 1)?)?.multiply(&whole_turns(-turns)?)?;
    number.multiply(&over)?.divide(&under)
}

/// How many turns the cycles of `from` become in `to`; negative if turns become cycles.
fn turns_per_cycle(from: &[Factor], to: &[Factor]) -> Result<i32, Fault> {
    let (mut of, mut wanted) = (dimension(from), dimension(to));
    let (angle, wanted_angle) = (units::take_angle(&mut of), units::take_angle(&mut wanted));
    if of != wanted {
        return Err(mismatch());
    }
    let turns = wanted_angle - angle;
    if turns == 0 {
        return Ok(0);
    }
    let has_cycles = from.iter().chain(to).any(|factor| factor.unit().is_frequency());
    match (angle, wanted_angle) {
        (0, _) if has_cycles && are_cycles_of(from, to, turns) => Ok(turns),
        (_, 0) if has_cycles && are_cycles_of(to, from, -turns) => Ok(turns),
        (0, _) | (_, 0) if !has_cycles && !units::is_time_alone(of) => Ok(0),
        (0, _) | (_, 0) => Err(ambiguous()),
        _ => Err(mismatch()),
    }
}

/// Whether one side has as many cycles as the other has whole turns, and that one neither cycles nor other angles.
fn are_cycles_of(cycles: &[Factor], turns: &[Factor], count: i32) -> bool {
    let counted: i32 = cycles.iter().filter(|factor| factor.unit().is_frequency()).map(|factor| factor.power).sum();
    let is_other = |factor: &Factor| factor.unit().is_frequency() || factor.unit().divides_turns();
    counted == count && !turns.iter().any(is_other)
}

pub(super) fn mismatch() -> Fault {
    SyntaxFault::UnitMismatch.into()
}

fn ambiguous() -> Fault {
    SyntaxFault::AmbiguousCycle.into()
}

fn dimension(units: &[Factor]) -> Dimension {
    let mut sum = Dimension::default();
    for factor in units {
        for (total, power) in sum.iter_mut().zip(factor.unit().dimension) {
            *total += power * factor.power;
        }
    }
    sum
}

/// Returns the size in base units of the units whose power has this sign, each to its power without the sign.
fn size(units: &[Factor], sign: i32) -> Result<Number, Fault> {
    let powers = units.iter().map(|factor| (factor, factor.power * sign)).filter(|(_, power)| *power > 0);
    powers.into_iter().try_fold(Number::Exact(1.into()), |product, (factor, power)| {
        product.multiply(&factor.unit().size()?.power(&Number::Exact(i64::from(power).into()))?)
    })
}

/// Returns `count` turns in radians, multiplied; 1 for zero and negative counts.
fn whole_turns(count: i32) -> Result<Number, Fault> {
    let count = Number::Exact(i64::from(count.max(0)).into());
    Number::Pi(2.into()).power(&count)
}
