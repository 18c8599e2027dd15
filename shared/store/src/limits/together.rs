use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::oneshot;

use super::Admission;
use crate::StoreError;

/// What somebody who asks is told.
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

    /// Whoever went away needs no answer.
    pub(super) fn tell(self, answer: Answer) {
        let _gone = self.answer.send(answer);
    }
}

/// Those who wait, by what they ask for; a name is there for as long as somebody decides about it.
#[derive(Debug, Default)]
pub(super) struct Together {
    waiting: Mutex<HashMap<String, Vec<Asker>>>,
}

/// Gives a name free when deciding about it panics; those who wait for it are told that the store is busy.
pub(super) struct Deciding<'a> {
    together: &'a Together,
    id: &'a str,
}

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        // Otherwise it is free already, or taken by the next to come.
        if std::thread::panicking() {
            self.together.all().remove(self.id);
        }
    }
}

impl Together {
    /// Waits with the others; `true` if there are none, and whoever asks has to see to the decision.
    pub(super) fn join(&self, id: &str, asker: Asker) -> bool {
        let mut waiting = self.all();
        if let Some(others) = waiting.get_mut(id) {
            others.push(asker);
            return false;
        }
        waiting.insert(id.to_owned(), vec![asker]);
        true
    }

    /// Those to decide about next; `None` when there is nobody, and the next to come has to see to it again.
    pub(super) fn next(&self, id: &str) -> Option<Vec<Asker>> {
        let mut waiting = self.all();
        let askers = waiting.get_mut(id).map(std::mem::take).filter(|askers| !askers.is_empty());
        if askers.is_none() {
            waiting.remove(id);
        }
        askers
    }

    /// Those who wait at this moment.
    pub(super) fn waiting(&self, id: &str) -> Vec<Asker> {
        self.all().get_mut(id).map(std::mem::take).unwrap_or_default()
    }

    /// A guard for whoever decides about a name.
    pub(super) fn deciding<'a>(&'a self, id: &'a str) -> Deciding<'a> {
        Deciding { together: self, id }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Vec<Asker>>> {
        // Nothing in it can be left half-changed by a panic.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_while_deciding_leaves_nobody_waiting_and_the_name_free() {
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
