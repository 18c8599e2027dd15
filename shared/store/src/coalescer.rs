use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Mutex as SendLock, oneshot};
use tokio::task::yield_now;
use work::lock;

/// Combines simultaneous requests of one key into one: a request costs far more than its content. No key waits for
/// another.
///
/// A key has one request in flight; items that arrive meanwhile go with the next one. The first waiter is the leader:
/// it sends the request for all that wait, and the next one takes over if it is cancelled. All get the same result.
pub(crate) struct Coalescer<K: Eq + Hash, T, R>(Arc<Mutex<Queues<K, T, R>>>);

/// The queues of the keys that have waiters.
type Queues<K, T, R> = HashMap<K, Arc<Queue<T, R>>>;

/// The waiters of a key; it exists as long as there are any.
struct Queue<T, R> {
    waiting: Mutex<Vec<QueuedItem<T, R>>>,
    send_lock: SendLock<()>,
}

struct QueuedItem<T, R> {
    item: T,
    result_sender: oneshot::Sender<R>,
}

/// The registration of a waiter, which removes the queue of its key after the last one.
struct Slot<'a, K: Eq + Hash, T, R> {
    coalescer: &'a Coalescer<K, T, R>,
    key: &'a K,
    queue: Arc<Queue<T, R>>,
}

impl<K: Clone + Eq + Hash, T: Clone, R: Clone> Coalescer<K, T, R> {
    /// Sends the item with all other waiting items of the key in one `request`, at least once: if the leader was
    /// cancelled, it is sent again. Returns the result of the request.
    pub(crate) async fn send<F>(&self, key: &K, item: T, request: impl FnOnce(Vec<T>) -> F) -> R
    where
        F: Future<Output = R>,
    {
        let slot = self.register(key);
        slot.queue.send(item, request).await
    }

    fn register<'a>(&'a self, key: &'a K) -> Slot<'a, K, T, R> {
        let queue = Arc::clone(lock(&self.0).entry(key.clone()).or_default());
        Slot { coalescer: self, key, queue }
    }
}

impl<K: Eq + Hash, T, R> Drop for Slot<'_, K, T, R> {
    fn drop(&mut self) {
        let mut queues = lock(&self.coalescer.0);
        // References are made under this lock only: the last two are this one and that of the map.
        if Arc::strong_count(&self.queue) <= 2 {
            queues.remove(self.key);
        }
    }
}

impl<T: Clone, R: Clone> Queue<T, R> {
    async fn send<F>(&self, item: T, request: impl FnOnce(Vec<T>) -> F) -> R
    where
        F: Future<Output = R>,
    {
        loop {
            let mut receiver = self.enqueue(item.clone());
            let (result, _guard) = if let Ok(guard) = self.send_lock.try_lock() {
                // Tasks that were woken by the same timer tick join this request.
                yield_now().await;
                (receiver.try_recv(), Some(guard))
            } else {
                tokio::select! {
                    biased;
                    result = &mut receiver => (result.map_err(|_| TryRecvError::Closed), None),
                    // The previous leader may have set the result on another thread since the last check.
                    guard = self.send_lock.lock() => (receiver.try_recv(), Some(guard)),
                }
            };
            match result {
                Ok(outcome) => return outcome,
                // The leader of this item was cancelled; the other waiters continue.
                Err(TryRecvError::Closed) => {}
                Err(TryRecvError::Empty) => return self.lead(request).await,
            }
        }
    }

    /// Sends all waiting items; the caller holds the send lock.
    async fn lead<F>(&self, request: impl FnOnce(Vec<T>) -> F) -> R
    where
        F: Future<Output = R>,
    {
        let mut all = std::mem::take(&mut *lock(&self.waiting));
        all.retain(|queued| !queued.result_sender.is_closed());
        let (all, senders): (Vec<_>, Vec<_>) =
            all.into_iter().map(|queued| (queued.item, queued.result_sender)).unzip();
        let outcome = request(all).await;
        // Every waiter gets its result before the next request starts, so that none sends again. Some may be cancelled
        // by now.
        for sender in senders {
            let _cancelled = sender.send(outcome.clone());
        }
        outcome
    }

    fn enqueue(&self, item: T) -> oneshot::Receiver<R> {
        let (result_sender, receiver) = oneshot::channel();
        lock(&self.waiting).push(QueuedItem { item, result_sender });
        receiver
    }
}

impl<K: Eq + Hash, T, R> Clone for Coalescer<K, T, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash, T, R> Default for Coalescer<K, T, R> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T, R> Default for Queue<T, R> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), send_lock: SendLock::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use futures_util::future::join_all;
    use futures_util::poll;

    use super::*;
    use crate::StoreError;
    use crate::key::Key;

    #[tokio::test]
    async fn items_of_cancelled_sender_are_resent() {
        let coalescer = Coalescer::<(), u32, Result<(), StoreError>>::default();
        let requests = Mutex::new(Vec::new());
        let record = |all: Vec<u32>| requests.lock().unwrap().push(all);
        let mut first = Box::pin(coalescer.send(&(), 0, |all| {
            record(all);
            pending()
        }));
        let mut others = join_all((1..10).map(|number| {
            coalescer.send(&(), number, |all| {
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
        let coalescer = Coalescer::<(), usize, Result<(), StoreError>>::default();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let sends = (0..20_000).map(|number| {
            let (coalescer, requests) = (coalescer.clone(), Arc::clone(&requests));
            let refused = Err(StoreError::Fault(number.to_string()));
            tokio::spawn(async move {
                let request = |all: Vec<usize>| {
                    requests.lock().unwrap().push(all);
                    ready(refused)
                };
                coalescer.send(&(), number, request).await.unwrap_err()
            })
        });
        let results = join_all(sends).await;
        let requests = requests.lock().unwrap();
        assert_eq!(requests.iter().find(|all| all.is_empty()), None);
        for all in requests.iter() {
            let outcome = results[all[0]].as_ref().unwrap();
            assert!(
                all.iter().all(|number| results[*number].as_ref().unwrap() == outcome),
                "all waiters of a request get its result"
            );
        }
        let mut sent = requests.concat();
        sent.sort_unstable();
        assert_eq!(sent, (0..20_000).collect::<Vec<_>>());
    }

    #[test]
    fn queue_is_removed_with_its_last_waiter() {
        let coalescer = Coalescer::<Key, u32, ()>::default();
        let (key, other) = (Key::new("a", "b"), Key::new("a", "c"));
        let (first, second, third) = (coalescer.register(&key), coalescer.register(&key), coalescer.register(&other));
        drop(first);
        assert_eq!(lock(&coalescer.0).len(), 2);
        drop(second);
        assert_eq!(lock(&coalescer.0).len(), 1);
        drop(third);
        assert!(lock(&coalescer.0).is_empty());
    }
}
