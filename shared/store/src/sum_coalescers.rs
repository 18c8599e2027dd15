use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::key::Key;
use crate::ledger::UsageTotals;
use crate::write_coalescer::WriteCoalescer;

/// Coalescers of usage entries, by the key of their sum: entries of one sum share a write, and no sum waits for
/// another.
#[derive(Clone, Default)]
pub(crate) struct SumCoalescers(Arc<Mutex<HashMap<Key, PendingSum>>>);

#[derive(Default)]
struct PendingSum {
    coalescer: WriteCoalescer<UsageTotals>,
    /// The number of waiting tasks; the entry is removed with the last one.
    waiters: usize,
}

/// A registration of a task that waits for one sum.
pub(crate) struct SumSlot<'a> {
    coalescers: &'a SumCoalescers,
    key: &'a Key,
    coalescer: WriteCoalescer<UsageTotals>,
}

impl SumCoalescers {
    /// Registers a task that adds an entry to this sum.
    pub(crate) fn acquire_slot<'a>(&'a self, key: &'a Key) -> SumSlot<'a> {
        let mut sums = self.lock();
        let sum = sums.entry(key.clone()).or_default();
        sum.waiters += 1;
        SumSlot { coalescers: self, key, coalescer: sum.coalescer.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, PendingSum>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SumSlot<'_> {
    pub(crate) fn coalescer(&self) -> &WriteCoalescer<UsageTotals> {
        &self.coalescer
    }
}

impl Drop for SumSlot<'_> {
    fn drop(&mut self) {
        let mut sums = self.coalescers.lock();
        if let Some(sum) = sums.get_mut(self.key) {
            sum.waiters -= 1;
            if sum.waiters == 0 {
                sums.remove(self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_is_removed_with_its_last_waiter() {
        let (coalescers, key, other) = (SumCoalescers::default(), Key::new("a", "b"), Key::new("a", "c"));
        let (first, second, third) =
            (coalescers.acquire_slot(&key), coalescers.acquire_slot(&key), coalescers.acquire_slot(&other));
        drop(first);
        assert_eq!(coalescers.lock().len(), 2);
        drop(second);
        assert_eq!(coalescers.lock().len(), 1);
        drop(third);
        assert!(coalescers.lock().is_empty());
    }
}
