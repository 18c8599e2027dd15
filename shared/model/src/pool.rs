use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use transport::POOL_IDLE_TIMEOUT;

/// Which hosts the HTTP client may hold an unused connection to.
///
/// A request that fails before a byte of the answer came is repeated at once only if it may have gone over such a
/// connection, which the other side can close at any time.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    freed: Mutex<HashMap<String, Instant>>,
}

/// Where the connection of one response goes when the response was read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pool: Arc<Pool>,
    host: String,
}

impl Pool {
    /// Whether an unused connection to the host of `url` may be held.
    pub(crate) fn may_hold(&self, url: &str) -> bool {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
        freed.get(host(url)).is_some_and(|at| at.elapsed() <= POOL_IDLE_TIMEOUT)
    }

    /// Takes note that connections to the host of `url` were found dead.
    pub(crate) fn forget(&self, url: &str) {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner).remove(host(url));
    }

    /// The place for the connection of a response from `url`.
    pub(crate) fn place(self: &Arc<Self>, url: &str) -> Place {
        Place { pool: Arc::clone(self), host: host(url).to_owned() }
    }
}

impl Place {
    /// Takes note that the connection is free.
    pub(crate) fn freed(&self) {
        self.pool.freed.lock().unwrap_or_else(PoisonError::into_inner).insert(self.host.clone(), Instant::now());
    }
}

/// Scheme, host and port: the URL up to its path.
fn host(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let length = url[start..].find('/').unwrap_or(url.len() - start);
    &url[..start + length]
}
