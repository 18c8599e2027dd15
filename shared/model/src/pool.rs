use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use transport::POOL_IDLE_TIMEOUT;

/// The hosts to which the HTTP client may hold an idle connection.
///
/// The server can close such a connection at any time. Only a request that may have used one is repeated at once
/// when it fails before the first byte of the response.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    freed: Mutex<HashMap<String, Instant>>,
}

/// Marks the connection of one response as idle when the response was read to its end.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pool: Arc<Pool>,
    host: String,
}

impl Pool {
    /// Whether there may be an idle connection to the host of `url`.
    pub(crate) fn may_hold(&self, url: &str) -> bool {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner);
        freed.get(host(url)).is_some_and(|at| at.elapsed() <= POOL_IDLE_TIMEOUT)
    }

    /// Removes the host of `url`, because its connections were dead.
    pub(crate) fn forget(&self, url: &str) {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner).remove(host(url));
    }

    /// Creates the slot for the connection of a response from `url`.
    pub(crate) fn place(self: &Arc<Self>, url: &str) -> Place {
        Place { pool: Arc::clone(self), host: host(url).to_owned() }
    }
}

impl Place {
    /// Marks the connection as idle.
    pub(crate) fn freed(&self) {
        self.pool.freed.lock().unwrap_or_else(PoisonError::into_inner).insert(self.host.clone(), Instant::now());
    }
}

/// Returns scheme, host and port: the URL up to its path.
fn host(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let length = url[start..].find('/').unwrap_or(url.len() - start);
    &url[..start + length]
}
