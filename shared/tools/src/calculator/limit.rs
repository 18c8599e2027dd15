//! Bounds the work of calculations by the sizes of their numbers: an expression always costs the same work.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use work::StopFlag;

use super::fault::Fault;
use super::number::Number;
use crate::calculation_budget::{CalculationBudget, MAX_CALCULATION_WORK};

/// Timeout of one calculation on an overloaded processor.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Stops a calculation when its work or time is spent, or when its caller is gone.
pub(super) struct Limit {
    until: Instant,
    stop: StopFlag,
    budget: CalculationBudget,
    /// What remains of the budget when this calculation has spent its work. A user's calculations run one at a time.
    end: u64,
}

impl Limit {
    pub(super) fn new(stop: StopFlag, budget: CalculationBudget) -> Self {
        let end = budget.0.load(Ordering::Relaxed).saturating_sub(MAX_CALCULATION_WORK);
        Self { until: Instant::now() + TIMEOUT, stop, budget, end }
    }

    /// Fails if the calculation must stop.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let is_spent = self.budget.0.load(Ordering::Relaxed) <= self.end;
        let is_over = is_spent || self.stop.is_set() || Instant::now() >= self.until;
        if is_over { Err(Fault::TooLarge) } else { Ok(()) }
    }

    /// Spends the work of an operation on these numbers, which then takes milliseconds at most: reducing a fraction
    /// grows with the square of its size, and all other work is small in comparison.
    pub(super) fn spend(&self, numbers: &[&Number]) -> Result<(), Fault> {
        let work = numbers.iter().map(|number| number.limbs()).sum::<u64>().pow(2);
        // The closure always has a value, so the update cannot fail.
        let _ =
            self.budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(work)));
        self.check()
    }
}
