use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Mutex as Sending, oneshot};
use tokio::task::yield_now;

use crate::StoreError;

/// Combines simultaneous writes into one request: a request costs far more than its content.
///
/// One request is in flight at a time; items that arrive meanwhile go with the next one. The first waiter sends the
/// request, and the next one takes over if it is cancelled.
pub(crate) struct WriteCoalescer<T>(Arc<CoalescerState<T>>);

struct CoalescerState<T> {
    queue: Mutex<Vec<QueuedItem<T>>>,
    send_lock: Sending<()>,
}

struct QueuedItem<T> {
    item: T,
    result_sender: oneshot::Sender<Result<(), StoreError>>,
}

impl<T: Clone> WriteCoalescer<T> {
    /// Stores the item with all other waiting items in one `request`, at least once: if the task that sent it was
    /// cancelled, it is sent again.
    ///
    /// # Errors
    /// The error of the request, also if another item of it was the cause.
    pub(crate) async fn send<F>(&self, item: T, request: impl FnOnce(Vec<T>) -> F) -> Result<(), StoreError>
    where
        F: Future<Output = Result<(), StoreError>>,
    {
        loop {
            let mut receiver = self.enqueue(item.clone());
            let (result, _guard) = if let Ok(guard) = self.0.send_lock.try_lock() {
                // Tasks that were woken by the same timer tick join this request.
                yield_now().await;
                (receiver.try_recv(), Some(guard))
            } else {
                tokio::select! {
                    biased;
                    result = &mut receiver => (result.map_err(|_| TryRecvError::Closed), None),
                    // The previous sender may have set the result on another thread since the last check.
                    guard = self.0.send_lock.lock() => (receiver.try_recv(), Some(guard)),
                }
            };
            match result {
                Ok(outcome) => return outcome,
                // The sender of this item was cancelled; the other waiters continue.
                Err(TryRecvError::Closed) => continue,
                Err(TryRecvError::Empty) => {}
            }
            let mut all = std::mem::take(&mut *self.lock_queue());
            all.retain(|queued| !queued.result_sender.is_closed());
            let (all, senders): (Vec<_>, Vec<_>) =
                all.into_iter().map(|queued| (queued.item, queued.result_sender)).unzip();
            let outcome = request(all).await;
            // Every waiter gets its result before the next request starts, so that none sends again. Some may be
            // cancelled by now.
            for sender in senders {
                let _cancelled = sender.send(outcome.clone());
            }
            return outcome;
        }
    }

    fn enqueue(&self, item: T) -> oneshot::Receiver<Result<(), StoreError>> {
        let (result_sender, receiver) = oneshot::channel();
        self.lock_queue().push(QueuedItem { item, result_sender });
        receiver
    }

    fn lock_queue(&self) -> MutexGuard<'_, Vec<QueuedItem<T>>> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for WriteCoalescer<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for WriteCoalescer<T> {
    fn default() -> Self {
        Self(Arc::new(CoalescerState { queue: Mutex::default(), send_lock: Sending::default() }))
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::future::join_all;
    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn items_of_cancelled_sender_are_resent() {
        let (coalescer, requests) = (WriteCoalescer::default(), Mutex::new(Vec::new()));
        let record = |all: Vec<u32>| requests.lock().unwrap().push(all);
        let mut first = Box::pin(coalescer.send(0, |all| {
            record(all);
            pending()
        }));
        let mut others = join_all((1..10).map(|number| {
            coalescer.send(number, |all| {
                record(all);
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

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn concurrent_sends_share_requests_and_results() {
        let (coalescer, requests) = (WriteCoalescer::default(), Arc::new(Mutex::new(Vec::new())));
        let sends = (0..20_000).map(|number| {
            let (coalescer, requests) = (coalescer.clone(), Arc::clone(&requests));
            let refused = Err(StoreError::Fault(number.to_string()));
            tokio::spawn(async move {
                let request = |all: Vec<usize>| {
                    requests.lock().unwrap().push(all);
                    ready(refused)
                };
                coalescer.send(number, request).await.unwrap_err()
            })
        });
        let results = join_all(sends).await;
        let requests = requests.lock().unwrap();
        assert_eq!(requests.iter().find(|all| all.is_empty()), None);
        for all in requests.iter() {
            let outcome = results[all[0]].as_ref().unwrap();
            assert!(
                all.iter().all(|number| results[*number].as_ref().unwrap() == outcome),
                "those of one request are told the same"
            );
        }
        let mut sent = requests.concat();
        sent.sort_unstable();
        assert_eq!(sent, (0..20_000).collect::<Vec<_>>());
    }
}
