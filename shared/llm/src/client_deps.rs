use std::sync::Arc;

use crate::breaker::Breakers;
use crate::idle_connections::IdleConnections;
use crate::timeouts::Timeouts;

/// The dependencies of every client.
#[derive(Clone)]
pub(crate) struct ClientDeps {
    pub(crate) http: platform::transport::Client,
    pub(crate) idle_connections: Arc<IdleConnections>,
    pub(crate) timeouts: Timeouts,
    pub(crate) breakers: Arc<Breakers>,
}

impl ClientDeps {
    pub(crate) fn new(http: platform::transport::Client, timeouts: Timeouts) -> Self {
        Self { http, idle_connections: Arc::default(), timeouts, breakers: Arc::default() }
    }
}
