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
        self.shared.health.is_available(now)
    }

    /// Whether the last call was rejected permanently (request, key or quota), or the endpoint is down, without a
    /// success since.
    pub fn is_failing(&self) -> bool {
        self.shared.health.is_failing()
    }

    /// Returns a key that models of one endpoint share; it contains no secret.
    pub fn endpoint(&self) -> String {
        let config = &self.shared.config;
        breaker::endpoint(config.wire, &config.base_url)
    }

    /// Applies the state that other processes published. `published` is polled only when the poll interval has passed.
    pub async fn learn_health(&self, now: SystemTime, told: impl Future<Output = Option<EndpointHealth>>) {
        let breaker = &self.shared.health.breaker;
        if breaker.may_look(now)
            && let Some(health) = told.await
        {
            breaker.learn(health, now);
        }
    }

    /// Returns the change of this process that is not yet published.
    pub fn untold_health(&self) -> Option<EndpointHealth> {
        self.shared.health.breaker.untold()
    }

    /// Waits for a change to publish.
    pub async fn health_news(&self) -> EndpointHealth {
        self.shared.health.breaker.news().await
    }

    /// Marks a change as published.
    pub fn health_told(&self, health: EndpointHealth) {
        self.shared.health.breaker.told(health);
    }
}
