use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::gathering::Gathering;
use crate::key::Key;
use crate::ledger::Spent;

/// Coalescers of usage entries, by the key of their sum: entries of one sum share a write, and no sum waits for
/// another.
#[derive(Clone, Default)]
pub(crate) struct Summing(Arc<Mutex<HashMap<Key, Sum>>>);

#[derive(Default)]
struct Sum {
    gathering: Gathering<Spent>,
    /// The number of waiting tasks; the entry is removed with the last one.
    users: usize,
}

/// A registration of a task that waits for one sum.
pub(crate) struct Place<'a> {
    summing: &'a Summing,
    key: &'a Key,
    gathering: Gathering<Spent>,
}

impl Summing {
    /// Registers a task that adds an entry to this sum.
    pub(crate) fn place<'a>(&'a self, key: &'a Key) -> Place<'a> {
        let mut sums = self.sums();
        let sum = sums.entry(key.clone()).or_default();
        sum.users += 1;
        Place { summing: self, key, gathering: sum.gathering.clone() }
    }

    fn sums(&self) -> MutexGuard<'_, HashMap<Key, Sum>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    pub(crate) fn gathering(&self) -> &Gathering<Spent> {
        &self.gathering
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut sums = self.summing.sums();
        if let Some(sum) = sums.get_mut(self.key) {
            sum.users -= 1;
            if sum.users == 0 {
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
        let (summing, key, other) = (Summing::default(), Key::new("a", "b"), Key::new("a", "c"));
        let (first, second, third) = (summing.place(&key), summing.place(&key), summing.place(&other));
        drop(first);
        assert_eq!(summing.sums().len(), 2);
        drop(second);
        assert_eq!(summing.sums().len(), 1);
        drop(third);
        assert!(summing.sums().is_empty());
    }
}
