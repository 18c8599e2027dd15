//! What a process shares between its requests: few threads for heavy work, fairly between owners, and values that are read
//! once for all of them.
//!
//! Whatever takes more than about a millisecond runs here, so that a request waits for no other owner's work. There are two
//! kinds, because a large request must not wait seconds for two searches in documents.

mod bounded_map;
mod fair_slots;
mod refreshed;
mod slow_work;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use domain::Owner;
use tokio::task::spawn_blocking;

pub use self::bounded_map::make_space;
pub use self::fair_slots::{FairSlot, FairSlots};
pub use self::refreshed::{RefreshPolicy, Refreshed};
pub use self::slow_work::{take_counts as take_slow_work, watch as watch_slow_work};

/// Threads of each kind of work.
pub const THREADS: usize = 2;

/// Work that is bounded before it starts and takes a fraction of a second: parsing, calculating, ranking.
pub static SHORT_WORK: LazyLock<HeavyWork> = LazyLock::new(HeavyWork::new);

/// Work that may take seconds and checks its [`StopFlag`] often: searches in documents.
pub static LONG_WORK: LazyLock<HeavyWork> = LazyLock::new(HeavyWork::new);

/// A pool of [`THREADS`]; each owner uses or awaits at most one of them at a time.
#[derive(Debug)]
pub struct HeavyWork {
    slots: FairSlots<Owner>,
}

/// Locks data that is also used after a panic of another holder: no change of it can panic halfway.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Signals work on another thread that its result is no longer awaited.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Whether the work should stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Stops the work that reads this flag or a clone of it.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sets the flag when it is dropped.
struct StopOnDrop(StopFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

impl HeavyWork {
    fn new() -> Self {
        Self { slots: FairSlots::new(THREADS) }
    }

    /// Waits for a thread and runs `work` on it; `None` if it panicked.
    ///
    /// Dropping the future gives up the wait, or sets the flag of the running work. The thread stays in use until the work
    /// ends, so abandoned requests never run more work than there are threads.
    pub async fn run<T: Send + 'static>(
        &self,
        owner: &Owner,
        work: impl FnOnce(&StopFlag) -> T + Send + 'static,
    ) -> Option<T> {
        let slot = self.slots.acquire(owner).await.ok()?;
        let stop = StopFlag::default();
        let _guard = StopOnDrop(stop.clone());
        let run = move || {
            let outcome = work(&stop);
            // What the work holds is free before the owner's next work begins.
            drop(slot);
            outcome
        };
        spawn_blocking(run).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn work_runs_on_another_thread() {
        let (pool, ada) = (HeavyWork::new(), Owner::new("ada"));
        let caller = thread::current().id();
        assert_eq!(pool.run(&ada, move |_| thread::current().id() != caller).await, Some(true));
    }

    #[tokio::test]
    async fn dropped_work_is_stopped() {
        let (pool, ada) = (HeavyWork::new(), Owner::new("ada"));
        let (started, begun) = tokio::sync::oneshot::channel();
        let (ended, end) = mpsc::channel();
        let work = pool.run(&ada, move |stop| {
            let _ = started.send(());
            while !stop.is_set() {
                thread::yield_now();
            }
            ended.send(()).unwrap();
        });
        tokio::select! {
            _ = work => unreachable!("the work ends only when it is dropped"),
            begun = begun => begun.unwrap(),
        }
        end.recv_timeout(LONG).unwrap();
        assert_eq!(timeout(LONG, pool.run(&ada, |_| 1)).await, Ok(Some(1)), "the owner's next work runs");
    }

    #[tokio::test]
    async fn panic_frees_the_thread() {
        let (pool, ada) = (HeavyWork::new(), Owner::new("ada"));
        for _ in 0..=THREADS {
            assert_eq!(pool.run(&ada, |_| -> u8 { unreachable!() }).await, None);
        }
        assert_eq!(pool.run(&ada, |_| 1).await, Some(1));
    }

    #[tokio::test]
    async fn other_owner_passes_a_flood() {
        let (pool, ada, bob) = (HeavyWork::new(), Owner::new("ada"), Owner::new("bob"));
        let (open, gate) = mpsc::channel::<()>();
        let gate = Arc::new(std::sync::Mutex::new(gate));
        // Each work of the flood waits at the gate, which opens after the other owner's work has run.
        let flood = join_all((0..8).map(|_| {
            let gate = Arc::clone(&gate);
            pool.run(&ada, move |_| gate.lock().map(|gate| gate.recv_timeout(LONG)).is_ok())
        }));
        let other = async {
            let outcome = timeout(LONG, pool.run(&bob, |_| 1)).await;
            drop(open);
            outcome
        };
        let (flood, other) = tokio::join!(flood, other);
        assert_eq!((other, flood), (Ok(Some(1)), vec![Some(true); 8]));
    }
}
