//! How the model does, and what processes tell each other of it.

use std::time::SystemTime;

use super::ModelClient;
use crate::{EndpointHealth, breaker};

impl ModelClient {
    /// Whether it is worth asking at `now` where another model can be asked instead: its endpoint is not down, or it is
    /// time to see whether it still is, and its key and allowance were not just refused.
    ///
    /// A call that is made all the same is never refused, but attempted once only while the endpoint counts as down.
    pub fn is_available(&self, now: SystemTime) -> bool {
        self.shared.health.is_available(now)
    }

    /// Whether its last call was refused for good (the request, the key, the allowance), or its endpoint is down, and
    /// nothing worked since.
    pub fn is_failing(&self) -> bool {
        self.shared.health.is_failing()
    }

    /// A text that is the same for models of one endpoint, and holds no secret.
    pub fn endpoint(&self) -> String {
        let config = &self.shared.config;
        breaker::endpoint(config.wire, &config.base_url)
    }

    /// Takes over what other processes know of the endpoint; `told` is polled only when that was not asked for a while.
    pub async fn learn_health(&self, now: SystemTime, told: impl Future<Output = Option<EndpointHealth>>) {
        let breaker = &self.shared.health.breaker;
        if breaker.may_look(now)
            && let Some(health) = told.await
        {
            breaker.learn(health, now);
        }
    }

    /// What this process found out about the endpoint and others were not told of.
    pub fn untold_health(&self) -> Option<EndpointHealth> {
        self.shared.health.breaker.untold()
    }

    /// Waits until there is something to tell.
    pub async fn health_news(&self) -> EndpointHealth {
        self.shared.health.breaker.news().await
    }

    /// Takes note that others were told.
    pub fn health_told(&self, health: EndpointHealth) {
        self.shared.health.breaker.told(health);
    }
}
