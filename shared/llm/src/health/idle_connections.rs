use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Instant;

use platform::transport::POOL_IDLE_TIMEOUT;
use work::lock;

/// The hosts to which the HTTP client may hold an idle connection.
///
/// The server can close such a connection at any time. Only a request that may have used one is repeated at once
/// when it fails before the first byte of the response.
#[derive(Debug, Default)]
pub(crate) struct IdleConnections {
    idle_since: Mutex<HashMap<String, Instant>>,
}

impl IdleConnections {
    pub(crate) fn may_have(&self, url: &str) -> bool {
        lock(&self.idle_since).get(host(url)).is_some_and(|at| at.elapsed() <= POOL_IDLE_TIMEOUT)
    }

    /// Removes the host of `url`, because its connections were dead.
    pub(crate) fn remove(&self, url: &str) {
        lock(&self.idle_since).remove(host(url));
    }

    /// Adds the host of `url`, because a response from it was read to its end.
    pub(crate) fn add(&self, url: &str) {
        lock(&self.idle_since).insert(host(url).to_owned(), Instant::now());
    }
}

/// Returns scheme, host and port: the URL up to its path.
fn host(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let length = url[start..].find('/').unwrap_or(url.len() - start);
    &url[..start + length]
}
