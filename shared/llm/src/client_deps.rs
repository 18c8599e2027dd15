use std::sync::Arc;

use crate::breaker::Breakers;
use crate::context_window::MAX_ALLOCATED;
use crate::idle_connections::IdleConnections;
use crate::timeouts::Timeouts;

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
        Self {
            http,
            idle_connections: Arc::default(),
            timeouts,
            breakers: Arc::default(),
            max_allocated_context: MAX_ALLOCATED,
        }
    }
}
