use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

use tokio::sync::oneshot;
use work::lock;

use super::Admission;
use crate::Result;

/// The result for one waiting request, of an admitted turn with its owner's instructions.
type AdmissionResult = Result<(Admission, Option<String>)>;

/// A request that waits for its decision.
#[derive(Debug)]
pub(super) struct Waiter {
    requested_at: SystemTime,
    sender: oneshot::Sender<AdmissionResult>,
}

impl Waiter {
    pub(super) fn new(requested_at: SystemTime) -> (Self, oneshot::Receiver<AdmissionResult>) {
        let (sender, decided) = oneshot::channel();
        (Self { requested_at, sender }, decided)
    }

    pub(super) fn requested_at(&self) -> SystemTime {
        self.requested_at
    }

    /// Sends the result; a cancelled request is ignored.
    pub(super) fn respond(self, result: AdmissionResult) {
        let _cancelled = self.sender.send(result);
    }
}

/// Waiting requests by key; an entry exists while a task decides about its key.
///
/// A [`Coalescer`](crate::coalescer::Coalescer) does not fit. Its waiters share one result, and it sends again after its
/// leader is cancelled; here each waiter of a batch has a result of its own, and a repeated decision would count its
/// requests twice. After a failure those that arrived meanwhile fail too, so that a dead store costs one timeout.
#[derive(Debug, Default)]
pub(super) struct PendingDecisions {
    waiters: Mutex<HashMap<String, Vec<Waiter>>>,
}

/// Frees a key when its deciding task panics; its waiting requests then fail with `Busy`.
pub(super) struct LeaderGuard<'a> {
    pending: &'a PendingDecisions,
    id: &'a str,
}

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        // Without a panic it is free already, or belongs to the next task.
        if std::thread::panicking() {
            lock(&self.pending.waiters).remove(self.id);
        }
    }
}

impl PendingDecisions {
    /// Adds a waiting request; `true` if it is the first, whose caller must start the deciding task.
    pub(super) fn join(&self, id: &str, waiter: Waiter) -> bool {
        let mut waiters = lock(&self.waiters);
        if let Some(batch) = waiters.get_mut(id) {
            batch.push(waiter);
            return false;
        }
        waiters.insert(id.to_owned(), vec![waiter]);
        true
    }

    /// Takes the next batch of requests; `None` if there is none, and the next caller must start a task again.
    pub(super) fn next_batch(&self, id: &str) -> Option<Vec<Waiter>> {
        let mut waiters = lock(&self.waiters);
        let batch = waiters.get_mut(id).map(std::mem::take).filter(|batch| !batch.is_empty());
        if batch.is_none() {
            waiters.remove(id);
        }
        batch
    }

    /// Takes the requests that are waiting now.
    pub(super) fn take_waiting(&self, id: &str) -> Vec<Waiter> {
        lock(&self.waiters).get_mut(id).map(std::mem::take).unwrap_or_default()
    }

    /// Creates a guard for the task that decides about a key.
    pub(super) fn guard_leader<'a>(&'a self, id: &'a str) -> LeaderGuard<'a> {
        LeaderGuard { pending: self, id }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn panic_while_deciding_fails_waiters_and_frees_key() {
        let pending = PendingDecisions::default();
        let (waiter, mut decided) = Waiter::new(SystemTime::UNIX_EPOCH);
        assert!(pending.join("a", waiter));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _guard = pending.guard_leader("a");
            panic!("while deciding");
        }));
        assert!(panicked.is_err());
        assert!(decided.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
        assert!(pending.join("a", Waiter::new(SystemTime::UNIX_EPOCH).0), "the next to come decides again");
    }
}
