use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::oneshot;

use super::Admission;
use crate::StoreError;

/// The result for one waiting request.
type Answer = Result<Admission, StoreError>;

/// A request that waits for its decision.
#[derive(Debug)]
pub(super) struct Asker {
    asked: SystemTime,
    answer: oneshot::Sender<Answer>,
}

impl Asker {
    pub(super) fn new(asked: SystemTime) -> (Self, oneshot::Receiver<Answer>) {
        let (answer, decided) = oneshot::channel();
        (Self { asked, answer }, decided)
    }

    pub(super) fn asked(&self) -> SystemTime {
        self.asked
    }

    /// Sends the result; a cancelled request is ignored.
    pub(super) fn tell(self, answer: Answer) {
        let _gone = self.answer.send(answer);
    }
}

/// Waiting requests by key; an entry exists while a task decides about its key.
#[derive(Debug, Default)]
pub(super) struct Together {
    waiting: Mutex<HashMap<String, Vec<Asker>>>,
}

/// Frees a key when its deciding task panics; its waiting requests then fail with `Busy`.
pub(super) struct Deciding<'a> {
    together: &'a Together,
    id: &'a str,
}

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        // Without a panic it is free already, or belongs to the next task.
        if std::thread::panicking() {
            self.together.all().remove(self.id);
        }
    }
}

impl Together {
    /// Adds a waiting request; `true` if it is the first, whose caller must start the deciding task.
    pub(super) fn join(&self, id: &str, asker: Asker) -> bool {
        let mut waiting = self.all();
        if let Some(others) = waiting.get_mut(id) {
            others.push(asker);
            return false;
        }
        waiting.insert(id.to_owned(), vec![asker]);
        true
    }

    /// Takes the next batch of requests; `None` if there is none, and the next caller must start a task again.
    pub(super) fn next(&self, id: &str) -> Option<Vec<Asker>> {
        let mut waiting = self.all();
        let askers = waiting.get_mut(id).map(std::mem::take).filter(|askers| !askers.is_empty());
        if askers.is_none() {
            waiting.remove(id);
        }
        askers
    }

    /// Takes the requests that are waiting now.
    pub(super) fn waiting(&self, id: &str) -> Vec<Asker> {
        self.all().get_mut(id).map(std::mem::take).unwrap_or_default()
    }

    /// Creates a guard for the task that decides about a key.
    pub(super) fn deciding<'a>(&'a self, id: &'a str) -> Deciding<'a> {
        Deciding { together: self, id }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Vec<Asker>>> {
        // No panic can leave it half-changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn panic_while_deciding_fails_waiters_and_frees_key() {
        let together = Together::default();
        let (asker, mut decided) = Asker::new(SystemTime::UNIX_EPOCH);
        assert!(together.join("a", asker));
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _deciding = together.deciding("a");
            panic!("while deciding");
        }));
        assert!(panicked.is_err());
        assert!(decided.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
        assert!(together.join("a", Asker::new(SystemTime::UNIX_EPOCH).0), "the next to come decides again");
    }
}
