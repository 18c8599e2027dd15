use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use aws_smithy_runtime_api::client::http::{HttpClient, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use tokio::sync::Semaphore;

use crate::aws::POOL_IDLE_TIMEOUT;
use crate::bounded::{Bounded, IN_FLIGHT};

/// An HTTP client with a bounded number of requests in flight, which drops its connections after a long pause by the
/// wall clock.
///
/// A function's instance is frozen between invocations. Its connections then die without progress of the pool's own
/// clock, and the first call afterwards would need a retry to find out.
pub(crate) struct Renewing<F> {
    fresh: F,
    current: Mutex<(SharedHttpClient, SystemTime)>,
    places: Arc<Semaphore>,
}

impl<F: Fn() -> SharedHttpClient> Renewing<F> {
    pub(crate) fn new(fresh: F) -> Self {
        let current = Mutex::new((fresh(), SystemTime::now()));
        Self { fresh, current, places: Arc::new(Semaphore::new(IN_FLIGHT)) }
    }

    fn current(&self, now: SystemTime) -> SharedHttpClient {
        // A panic in another task leaves a usable client.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(current.1).is_ok_and(|pause| pause > POOL_IDLE_TIMEOUT) {
            current.0 = (self.fresh)();
        }
        current.1 = now;
        current.0.clone()
    }
}

impl<F: Fn() -> SharedHttpClient + Send + Sync> HttpClient for Renewing<F> {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let connector = self.current(SystemTime::now()).http_connector(settings, components);
        SharedHttpConnector::new(Bounded::new(connector, Arc::clone(&self.places)))
    }
}

impl<F> fmt::Debug for Renewing<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewing")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use aws_smithy_http_client::Builder;

    use super::*;

    #[test]
    fn f094_only_long_pause_renews_client() {
        let made = AtomicUsize::new(0);
        let renewing = Renewing::new(|| {
            made.fetch_add(1, Ordering::Relaxed);
            Builder::new().build_http()
        });
        let begun = SystemTime::now();
        for (seconds, expected) in [(1, 1), (20, 1), (41, 2), (60, 2)] {
            renewing.current(begun + Duration::from_secs(seconds));
            assert_eq!(made.load(Ordering::Relaxed), expected, "after {seconds} s");
        }
    }
}
