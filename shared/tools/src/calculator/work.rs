//! Bounds the work of calculations by the sizes of their numbers: an expression always costs the same work.

use std::cell::Cell;
use std::time::{Duration, Instant};

use work::StopFlag;

use super::fault::Fault;
use super::number::Number;
use super::rational::Rational;
use crate::calculation_budget::{CalculationBudget, MAX_CALCULATION_WORK};

/// Timeout of one calculation on an overloaded processor.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Bits of a number that one step of an operation processes.
const LIMB_BITS: u64 = 64;

/// Divisor for the work of an operation on integers, compared with fractions of the same size.
const INTEGER_SHARE: u64 = 16;

/// Stops a calculation when its work or time is spent, or when its caller is gone. Dropping it spends the work from the
/// budget.
pub(super) struct Limit {
    until: Instant,
    stop: StopFlag,
    budget: CalculationBudget,
    spent: Cell<u64>,
}

impl Limit {
    /// A limit from now on.
    pub(super) fn new(stop: StopFlag, budget: CalculationBudget) -> Self {
        Self { until: Instant::now() + TIMEOUT, stop, budget, spent: Cell::new(0) }
    }

    /// Fails if the calculation must stop; called before each operation, which takes milliseconds at most.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let is_spent = self.spent.get() >= MAX_CALCULATION_WORK.min(self.budget.left());
        let is_over = is_spent || self.stop.is_set() || Instant::now() >= self.until;
        if is_over { Err(Fault::TooLarge) } else { Ok(()) }
    }

    /// Spends the work of an operation on these numbers.
    ///
    /// # Errors
    /// Those of [`Self::check`].
    pub(super) fn spend(&self, numbers: &[&Number]) -> Result<(), Fault> {
        let is_fraction = numbers.iter().filter_map(|number| exact(number)).any(|number| !number.is_integer());
        self.spend_limbs(numbers, is_fraction)
    }

    /// Spends the work of an operation that divides these numbers.
    ///
    /// # Errors
    /// Those of [`Self::check`].
    pub(super) fn spend_division(&self, numbers: &[&Number]) -> Result<(), Fault> {
        self.spend_limbs(numbers, true)
    }

    /// Spends work. Reducing a fraction grows with the square of the size; all other work is small in comparison.
    fn spend_limbs(&self, numbers: &[&Number], is_fraction: bool) -> Result<(), Fault> {
        let limbs: u64 = numbers.iter().map(|number| exact(number).map_or(1, limb_count)).sum();
        let work = if is_fraction { limbs.pow(2) } else { 1 + limbs.pow(2) / INTEGER_SHARE };
        self.spent.set(self.spent.get().saturating_add(work));
        self.check()
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        self.budget.spend(self.spent.get());
    }
}

fn exact(number: &Number) -> Option<&Rational> {
    match number {
        Number::Exact(number) => Some(number),
        Number::Approximate(_) => None,
    }
}

fn limb_count(number: &Rational) -> u64 {
    1 + (number.numerator().bits() + number.denominator().bits()) / LIMB_BITS
}
