use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

/// How long a test waits before it fails instead of hanging. The last of a thousand concurrent turns may need this long
/// on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Awaits `future`; panics with `what` in its message after 2 minutes.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain: {what}"))
}

/// A point in a script where a fake server waits until the test lets it continue.
///
/// [`Gate::wait_until_reached`] returns once the server waits, and [`Gate::open`] lets it continue, so no test needs to
/// sleep.
#[derive(Clone)]
pub struct Gate(Arc<Places>);

struct Places {
    waiting: Semaphore,
    passes: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Places { waiting: Semaphore::new(0), passes: Semaphore::new(0) }))
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets one waiter through: a present one or else the next one.
    pub fn open(&self) {
        self.0.passes.add_permits(1);
    }

    /// Lets all present and later waiters through.
    pub fn open_for_good(&self) {
        self.0.passes.close();
    }

    /// Waits until a server reaches the gate; returns once for each arrival.
    pub async fn reached(&self) {
        let arrival = within("a gate to be reached", self.0.waiting.acquire()).await;
        arrival.expect("arrivals are never closed").forget();
    }

    /// Reports an arrival and waits until the gate opens.
    pub async fn pass(&self) {
        self.0.waiting.add_permits(1);
        if let Ok(pass) = self.0.passes.acquire().await {
            pass.forget();
        }
    }
}
