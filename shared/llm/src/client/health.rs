//! The health of the model, and its exchange between processes.

use std::time::SystemTime;

use super::ModelClient;
use crate::{EndpointHealth, breaker};

impl ModelClient {
    /// Whether the model should be used at `now` if there is a fallback: its endpoint is up or due for a probe, and its
    /// key and quota were not rejected within the last minute.
    ///
    /// A call to an unavailable model is still made, but with a single attempt while the endpoint is down.
    pub fn is_available(&self, now: SystemTime) -> bool {
        self.state.health.is_available(now)
    }

    /// Whether the last call was rejected permanently (request, key or quota), or the endpoint is down, without a
    /// success since.
    pub fn is_failing(&self) -> bool {
        self.state.health.is_failing()
    }

    /// Returns a key that models of one endpoint share; it contains no secret.
    pub fn endpoint(&self) -> String {
        let config = &self.state.config;
        breaker::endpoint_key(config.wire, &config.base_url)
    }

    /// Applies the state that other processes published. `published` is polled only when the poll interval has passed.
    pub async fn refresh_health(&self, now: SystemTime, published: impl Future<Output = Option<EndpointHealth>>) {
        let breaker = &self.state.health.breaker;
        if breaker.should_poll(now)
            && let Some(health) = published.await
        {
            breaker.apply_remote(health, now);
        }
    }

    /// Returns the change of this process that is not yet published.
    pub fn pending_health_change(&self) -> Option<EndpointHealth> {
        self.state.health.breaker.pending_change()
    }

    /// Waits for a change to publish.
    pub async fn next_health_change(&self) -> EndpointHealth {
        self.state.health.breaker.next_change().await
    }

    /// Marks a change as published.
    pub fn mark_health_published(&self, health: EndpointHealth) {
        self.state.health.breaker.mark_published(health);
    }
}
