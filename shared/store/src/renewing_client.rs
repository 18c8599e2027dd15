use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use aws_smithy_runtime_api::client::http::{HttpClient, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use tokio::sync::Semaphore;

use crate::concurrency_limit::{ConcurrencyLimit, MAX_IN_FLIGHT};

/// How long a connection may be idle: less than the idle limits of the services' load balancers, and of a frozen
/// instance's NAT entries.
pub(crate) const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// An HTTP client with a bounded number of requests in flight, which drops its connections after a long pause by the
/// wall clock.
///
/// A function's instance is frozen between invocations. Its connections then die without progress of the pool's own
/// clock, and the first call afterwards would need a retry to find out.
pub(crate) struct RenewingClient<F> {
    new_client: F,
    current: Mutex<(SharedHttpClient, SystemTime)>,
    permits: Arc<Semaphore>,
}

impl<F: Fn() -> SharedHttpClient> RenewingClient<F> {
    pub(crate) fn new(new_client: F) -> Self {
        let current = Mutex::new((new_client(), SystemTime::now()));
        Self { new_client, current, permits: Arc::new(Semaphore::new(MAX_IN_FLIGHT)) }
    }

    fn current(&self, now: SystemTime) -> SharedHttpClient {
        // A panic in another task leaves a usable client.
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(current.1).is_ok_and(|pause| pause > POOL_IDLE_TIMEOUT) {
            current.0 = (self.new_client)();
        }
        current.1 = now;
        current.0.clone()
    }
}

impl<F: Fn() -> SharedHttpClient + Send + Sync> HttpClient for RenewingClient<F> {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        let connector = self.current(SystemTime::now()).http_connector(settings, components);
        SharedHttpConnector::new(ConcurrencyLimit::new(connector, Arc::clone(&self.permits)))
    }
}

impl<F> fmt::Debug for RenewingClient<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renewing")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use aws_smithy_http_client::Builder;

    use super::*;

    #[test]
    fn f094_only_long_pause_renews_client() {
        let made = AtomicUsize::new(0);
        let client = RenewingClient::new(|| {
            made.fetch_add(1, Ordering::Relaxed);
            Builder::new().build_http()
        });
        let started_at = SystemTime::now();
        for (seconds, expected) in [(1, 1), (20, 1), (41, 2), (60, 2)] {
            client.current(started_at + Duration::from_secs(seconds));
            assert_eq!(made.load(Ordering::Relaxed), expected, "after {seconds} s");
        }
    }
}
