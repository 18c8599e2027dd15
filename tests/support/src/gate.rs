use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

/// How long anything may take that a test waits for, before the test fails instead of hanging; the last of a thousand
/// turns waits for the others, on whatever else the machine does.
const PATIENCE: Duration = Duration::from_mins(2);

/// Awaits `future`, and ends the test with `what` in its message when it takes unreasonably long.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, future).await;
    waited.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain: {what}"))
}

/// A place in a script at which a fake server waits until the test lets it go on.
///
/// The test knows that the server has come there by [`Gate::reached`], and decides by [`Gate::open`] when it goes on:
/// no test needs to sleep.
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

    /// Lets one waiter through: one that is there or the next to come.
    pub fn open(&self) {
        self.0.passes.add_permits(1);
    }

    /// Lets everyone through from now on.
    pub fn open_for_good(&self) {
        self.0.passes.close();
    }

    /// Waits until somebody has come to the gate; each arrival is told once.
    pub async fn reached(&self) {
        let arrival = within("a gate to be reached", self.0.waiting.acquire()).await;
        arrival.expect("arrivals are never closed").forget();
    }

    /// Comes to the gate and waits until it is opened.
    pub async fn pass(&self) {
        self.0.waiting.add_permits(1);
        if let Ok(pass) = self.0.passes.acquire().await {
            pass.forget();
        }
    }
}
