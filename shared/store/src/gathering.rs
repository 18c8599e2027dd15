use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as Sending, oneshot};
use tokio::task::yield_now;

use crate::StoreError;

/// Stores together what is to be stored at the same moment: a request costs much more than what is in it.
///
/// One request is on its way at a time; what comes meanwhile goes with the next one. Who has to send it is whoever comes
/// first, as long as they wait for it.
pub(crate) struct Gathering<T>(Arc<Shared<T>>);

struct Shared<T> {
    waiting: Mutex<Vec<Waiting<T>>>,
    sending: Sending<()>,
}

struct Waiting<T> {
    what: T,
    told: oneshot::Sender<Result<(), StoreError>>,
}

impl<T: Clone> Gathering<T> {
    /// Has `request` store this with whatever else waits, at least once: if somebody gave up who had it on the way, it is
    /// sent again.
    ///
    /// # Errors
    /// What the request gave, also where that was about others that went along.
    pub(crate) async fn send<F>(&self, what: T, request: impl FnOnce(Vec<T>) -> F) -> Result<(), StoreError>
    where
        F: Future<Output = Result<(), StoreError>>,
    {
        loop {
            let mut heard = self.wait(what.clone());
            // Those who were woken by the same tick of the clock come along.
            yield_now().await;
            let sending = tokio::select! {
                biased;
                told = &mut heard => match told {
                    Ok(outcome) => return outcome,
                    // Whoever had it on the way gave up, which is no reason for anybody else to.
                    Err(_) => continue,
                },
                sending = self.0.sending.lock() => sending,
            };
            let mut all = std::mem::take(&mut *self.waiting());
            all.retain(|waiting| !waiting.told.is_closed());
            let (all, told): (Vec<_>, Vec<_>) = all.into_iter().map(|waiting| (waiting.what, waiting.told)).unzip();
            let outcome = request(all).await;
            drop(sending);
            for told in told {
                // Some gave up meanwhile.
                let _gone = told.send(outcome.clone());
            }
            return outcome;
        }
    }

    fn wait(&self, what: T) -> oneshot::Receiver<Result<(), StoreError>> {
        let (told, heard) = oneshot::channel();
        self.waiting().push(Waiting { what, told });
        heard
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting<T>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Gathering<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Gathering<T> {
    fn default() -> Self {
        Self(Arc::new(Shared { waiting: Mutex::default(), sending: Sending::default() }))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::future::join_all;
    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn what_somebody_gave_up_goes_with_the_next_request_all_of_it() {
        let (gathering, requests) = (Gathering::default(), Mutex::new(Vec::new()));
        let ask = |all: Vec<u32>| requests.lock().unwrap().push(all);
        let mut first = Box::pin(gathering.send(0, |all| {
            ask(all);
            pending()
        }));
        let mut others = join_all((1..10).map(|number| {
            gathering.send(number, |all| {
                ask(all);
                ready(Ok(()))
            })
        }));
        for _ in 0..2 {
            assert!(poll!(&mut first).is_pending() && poll!(&mut others).is_pending());
        }
        assert_eq!(*requests.lock().unwrap(), [(0..10).collect::<Vec<_>>()]);
        drop(first);
        assert_eq!(others.await, [(); 9].map(Ok));
        assert_eq!(requests.lock().unwrap()[1..], [(1..10).collect::<Vec<_>>()]);
    }
}
