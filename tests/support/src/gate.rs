use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

/// How long a test waits before it fails instead of hanging. The last of a thousand concurrent turns may need this long
/// on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_mins(2);

/// Awaits `future`; panics with `what` in its message after 2 minutes.
pub async fn with_timeout<T>(what: &str, future: impl Future<Output = T>) -> T {
    let result = tokio::time::timeout(WAIT_TIMEOUT, future).await;
    result.unwrap_or_else(|_| panic!("waited {WAIT_TIMEOUT:?} in vain: {what}"))
}

/// A point in a script where a fake server waits until the test lets it continue.
///
/// [`Gate::wait_until_reached`] returns once the server waits, and [`Gate::open`] lets it continue, so no test needs to
/// sleep.
#[derive(Clone)]
pub struct Gate(Arc<GateState>);

struct GateState {
    arrivals: Semaphore,
    permits: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(GateState { arrivals: Semaphore::new(0), permits: Semaphore::new(0) }))
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets one waiter through: a present one or else the next one.
    pub fn open(&self) {
        self.0.permits.add_permits(1);
    }

    /// Lets all present and later waiters through.
    pub fn open_permanently(&self) {
        self.0.permits.close();
    }

    /// Waits until a server reaches the gate; returns once for each arrival.
    pub async fn wait_until_reached(&self) {
        let arrival = with_timeout("a gate to be reached", self.0.arrivals.acquire()).await;
        arrival.expect("arrivals are never closed").forget();
    }

    /// Reports an arrival and waits until the gate opens.
    pub async fn pass(&self) {
        self.0.arrivals.add_permits(1);
        if let Ok(pass) = self.0.permits.acquire().await {
            pass.forget();
        }
    }
}
