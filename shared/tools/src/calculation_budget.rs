use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Maximum work of one calculation; at most about 100 ms in a release build on a current processor.
pub(crate) const MAX_CALCULATION_WORK: u64 = 4_000_000;

/// Maximum work of the calculations of one turn together; at most about 1 s.
const MAX_TURN_WORK: u64 = 10 * MAX_CALCULATION_WORK;

/// The remaining work of the calculations of one turn; clones share it.
#[derive(Clone, Debug)]
pub struct CalculationBudget(pub(crate) Arc<AtomicU64>);

impl Default for CalculationBudget {
    /// The budget of a whole turn.
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(MAX_TURN_WORK)))
    }
}
