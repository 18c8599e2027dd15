use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum work of one calculation; 15 to 100 ms in a release build on a current processor.
pub(crate) const MAX_CALCULATION_WORK: u64 = 4_000_000;

/// Maximum work of the calculations of one turn together; at most about 1 s.
const MAX_TURN_WORK: u64 = 10 * MAX_CALCULATION_WORK;

/// The remaining work of the calculations of one turn; clones share it.
#[derive(Clone, Debug)]
pub struct CalculationBudget(Arc<AtomicU64>);

impl Default for CalculationBudget {
    /// The budget of a whole turn.
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MAX_TURN_WORK)))
    }
}

impl CalculationBudget {
    pub(crate) fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn spend(&self, work: u64) {
        // The closure always has a value, so the update cannot fail.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(work)));
    }
}
