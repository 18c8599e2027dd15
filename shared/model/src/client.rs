mod call;
mod health;
mod inquiry;

use std::sync::Arc;

use reqwest::RequestBuilder;

use crate::capability::Capability;
use crate::fault::Fault;
use crate::health::Health;
use crate::learned::Learned;
use crate::models::Connect;
use crate::pool::Pool;
use crate::providers::{self, Provider};
use crate::retry::Patience;
use crate::timers::Timers;
use crate::wire::{self, Quirks};
use crate::{Limits, ModelConfig, ModelError, Prompt, Reply, Wishes, attempts};

use call::Call;

/// The client of one model; cheap to clone.
#[derive(Clone)]
pub struct ModelClient {
    shared: Arc<Shared>,
}

struct Shared {
    config: ModelConfig,
    provider: &'static Provider,
    learned: Learned,
    capability: Capability,
    http: transport::Client,
    pool: Arc<Pool>,
    timers: Timers,
    health: Arc<Health>,
}

impl ModelClient {
    pub(crate) fn new(config: ModelConfig, connect: &Connect) -> Self {
        Self::of_provider(providers::of(&config), config, connect)
    }

    fn of_provider(provider: &'static Provider, config: ModelConfig, connect: &Connect) -> Self {
        let (learned, capability) = (Learned::default(), Capability::new(&config, provider));
        let health = Arc::new(Health::new(connect.breakers.of(config.wire, &config.base_url)));
        let Connect { http, pool, timers, .. } = connect.clone();
        Self { shared: Arc::new(Shared { config, provider, learned, capability, http, pool, timers, health }) }
    }

    /// Returns the configuration of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.shared.config
    }

    /// Returns the provider, from the configuration or the address: `ark`, `openai`, `ollama` and so on.
    pub fn provider(&self) -> &'static str {
        self.shared.provider.name
    }

    /// Returns the context size in tokens (prompt and reply together): as configured, else from the provider's table.
    pub fn context_tokens(&self) -> Option<u64> {
        let config = self.config();
        config.options.context_tokens.or_else(|| self.shared.provider.context_of(&config.model))
    }

    /// Requests a reply. Returns at the first delta and retries before that as far as `options` allow; a later error is
    /// final.
    ///
    /// It makes at most three attempts, and only one while the endpoint is down. Errors contain no text of the endpoint.
    pub async fn reply(&self, prompt: &Prompt, limits: Limits) -> Result<Reply, ModelError> {
        let (deadline, alternative) = (limits.deadline, limits.alternative);
        let mut call = Call::new(self, prompt, limits);
        let patience = Patience::new(alternative, call.is_single());
        attempts::repeat(&mut call, patience, deadline).await
    }

    async fn with_key(&self, request: RequestBuilder) -> Result<RequestBuilder, Fault> {
        let config = &self.shared.config;
        let Some(key) = &config.api_key else { return Ok(request) };
        let key = key.reveal().await.map_err(|_| Fault::last(ModelError::Unavailable))?;
        let (name, value) = wire::authorisation(config.wire, &key)?;
        Ok(request.header(name, value))
    }

    fn quirks(&self, wishes: &Wishes) -> Quirks {
        let Shared { learned, provider, config, .. } = &*self.shared;
        learned.apply(Quirks::new(provider, config, wishes))
    }
}
