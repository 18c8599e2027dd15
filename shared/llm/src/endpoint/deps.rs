use std::sync::Arc;

use crate::capabilities::MAX_ALLOCATED;
use crate::endpoint::Timeouts;
use crate::health::{Breakers, IdleConnections};

/// The dependencies of every client.
#[derive(Clone)]
pub(crate) struct ClientDeps {
    pub(crate) http: platform::transport::Client,
    pub(crate) idle_connections: Arc<IdleConnections>,
    pub(crate) timeouts: Timeouts,
    pub(crate) breakers: Arc<Breakers>,
    /// The default maximum of the context window that is requested from Ollama, in tokens.
    pub(crate) max_allocated_context: u64,
}

impl ClientDeps {
    pub(crate) fn new(http: platform::transport::Client, timeouts: Timeouts) -> Self {
        let (idle_connections, breakers) = (Arc::default(), Arc::default());
        Self { http, idle_connections, timeouts, breakers, max_allocated_context: MAX_ALLOCATED }
    }
}
